"""The boxes between a bus or a processor's port and a machine: queues, registers, requests and padding."""
