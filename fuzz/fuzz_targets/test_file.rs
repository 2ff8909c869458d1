#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcpgraph_fuzz::test_file(data));
