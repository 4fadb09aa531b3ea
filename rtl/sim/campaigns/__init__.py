"""Campaigns of many operations on one compiled model: fault injection, and moments of register activity."""
