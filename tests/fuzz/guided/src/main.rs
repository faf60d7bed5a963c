//! libFuzzer on the scenario's parser and checks: no text causes a panic, and every problem states its location.

#![no_main]

use libfuzzer_sys::fuzz_target;
use scenario::Document;

fuzz_target!(|text: &str| {
    let checked = Document::parse(text, "case").and_then(|document| document.check());
    match checked {
        Ok(scenario) => assert!(scenario::estimate(&scenario).packets >= 0.0),
        Err(problems) => assert!(problems.to_string().starts_with("case")),
    }
});
