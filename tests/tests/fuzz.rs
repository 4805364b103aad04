//! The fuzz targets with random mutations of their seeds: a second each, or minutes with `LONG`.

#![expect(clippy::unwrap_used, reason = "the shared function fails a test like the tests themselves")]

use std::time::{Duration, SystemTime};

use tests::fuzz::Target;

fn run(name: &str) {
    let target = Target::named(name).unwrap();
    if std::env::var_os("LONG").is_none() {
        // The same bytes in every run.
        target.run_for(Duration::from_secs(1), 7);
        return;
    }
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(7, |time| time.as_secs());
    let runs = target.run_for(Duration::from_secs(180), seed);
    println!("{name}: {runs} runs, seed {seed}");
}

macro_rules! targets {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            run(stringify!($name));
        }
    )*};
}

targets! {
    json_input json_update stored_value stored_thread answers messages
    chat_reply chat_stream chat_round_trip
}
