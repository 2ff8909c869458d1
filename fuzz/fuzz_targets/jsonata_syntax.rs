#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mcpgraph_fuzz::jsonata_syntax(data));
