//! The rules on how names may be, and how long.

use lockstorm_scenarios::load_str;

const SINGLE: &str = "topology.single = {}\nlock.token = { lease = \"2s\" }\n";
const A_HOLDS: &str = "[[step]]\nacquire = { client = \"a\" }\n";

#[test]
fn a_name_fits_a_folder_and_is_not_taken_already() {
    let load = |name: &str| load_str(&format!("name = \"{name}\"\n{SINGLE}{A_HOLDS}"), "f", &[]);
    load(&"a".repeat(100)).expect("it is no longer than allowed");
    let said = load(&"a".repeat(101))
        .expect_err("it is longer")
        .to_string();
    assert!(
        said.contains("has 101 bytes, and names have at most 100"),
        "{said}"
    );
    for reserved in ["latest", "suite"] {
        let said = load(reserved).expect_err("it is taken").to_string();
        assert!(
            said.contains(&format!("'{reserved}' is reserved")),
            "{said}"
        );
    }
}

#[test]
fn clients_and_keys_have_names_that_can_be_read() {
    let load = |client: usize, key: usize| {
        let (client, key) = ("c".repeat(client), "k".repeat(key));
        let step = format!("acquire = {{ client = \"{client}\", key = \"{key}\" }}");
        let text = format!("name = \"long\"\n{SINGLE}[[step]]\n{step}\n");
        load_str(&text, "f", &[]).map(|_| ())
    };
    load(100, 1_000).expect("they are no longer than allowed");
    let said = load(101, 1_001).expect_err("both are longer").to_string();
    assert!(
        said.contains("the client has 101 bytes, and may have 100")
            && said.contains("the key has 1001 bytes, and may have 1000"),
        "{said}"
    );
}
