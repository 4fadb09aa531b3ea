// The functions of a compiled testbench that are the same for every driver. It follows the driver's text.

// null: the waveform file cannot be written
API Driver* sim_new(const char* waves, int seed) {
    auto sim = std::make_unique<Driver>(waves, seed);
    return sim->ok() ? sim.release() : nullptr;
}
API int32_t sim_waves_error(const Driver* sim) { return sim->waves_error(); }
API void sim_delete(Driver* sim) { delete sim; }
API int32_t sim_advance(Driver* sim, uint64_t budget) {
    const Outcome outcome = sim->advance(budget);
    sim->flush();
    return outcome;
}
