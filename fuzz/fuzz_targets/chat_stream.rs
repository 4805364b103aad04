#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| superstep_fuzz::run("chat_stream", bytes));
