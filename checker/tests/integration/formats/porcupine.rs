//! The key-value histories of Porcupine's tests.

use lockstorm_checker::history::{Format, Function, Nanos};
use serde_json::json;

use crate::formats::events;

#[test]
fn its_calls_are_reads_writes_and_appends_of_keys_in_the_order_of_the_lines() {
    let events = events(
        "{:process 0, :type :invoke, :f :append, :key \"7\", :value \"x 0 0 y\"}\n\
         {:process 1, :type :invoke, :f :get, :key \"7\", :value nil}\n\
         {:process 0, :type :ok, :f :append, :key \"7\", :value \"x 0 0 y\"}\n\
         {:process 1, :type :ok, :f :get, :key \"7\", :value \"\"}\n\
         {:process 0, :type :invoke, :f :put, :key \"8\", :value \"z\"}\n",
        Format::Porcupine,
    );
    let functions: Vec<_> = events.iter().map(|event| &event.function).collect();
    let (read, write, append) = (&Function::Read, &Function::Write, &Function::Append);
    assert_eq!(functions, [append, read, append, read, write]);
    let keys: Vec<_> = events.iter().map(|event| &*event.key).collect();
    assert_eq!(keys, ["7", "7", "7", "7", "8"]);
    assert_eq!(events[1].value.value, None);
    assert_eq!(
        events[3].value.value,
        Some(Box::new(json!(""))),
        "empty, and not absent"
    );
    assert_eq!(events[4].time, Nanos(4));
}

#[test]
fn in_edn_at_large_a_get_is_nothing_that_the_checker_knows() {
    let text = "{:process 1, :type :invoke, :f :get, :key \"7\", :value nil}";
    let function = events(text, Format::Edn).remove(0).function;
    assert_eq!(function, Function::Other("get".into()));
}
