//! The text of every script that our own locks send, mutants included.
//!
//! For: whoever has to know a script of ours from one of somebody else.

use lockstorm_scenarios::Mutant;

use super::mutation::script_of;

/// A script of Redisson's locks.
macro_rules! redisson {
    ($name:literal) => {
        include_str!(concat!("redisson/scripts/", $name, ".lua"))
    };
}

/// A script of the fair lock, with the head that they share.
macro_rules! fair {
    ($name:literal) => {
        concat!(redisson!("fair_head"), redisson!($name))
    };
}

/// As they should be.
const RIGHT: [&str; 27] = [
    include_str!("scripts/acquire_fenced.lua"),
    include_str!("scripts/release.lua"),
    include_str!("scripts/renew.lua"),
    fair!("fair_lock"),
    fair!("fair_lock_3_10"),
    fair!("fair_lock_3_17"),
    fair!("fair_try"),
    fair!("fair_unlock"),
    redisson!("fair_leave"),
    redisson!("fair_leave_3_10"),
    redisson!("lock"),
    redisson!("lock_fenced"),
    redisson!("permit_release"),
    redisson!("permits_acquire"),
    redisson!("read_lock"),
    redisson!("read_lock_3_10"),
    redisson!("read_renew"),
    redisson!("read_renew_all"),
    redisson!("read_unlock"),
    redisson!("renew"),
    redisson!("semaphore_acquire"),
    redisson!("semaphore_release"),
    redisson!("set_permits"),
    redisson!("unlock"),
    redisson!("unlock_spin"),
    redisson!("write_lock"),
    redisson!("write_unlock"),
];

/// All of them.
pub fn own_scripts() -> impl Iterator<Item = String> {
    let wrong = Mutant::ALL.into_iter().filter_map(script_of);
    RIGHT.into_iter().map(str::to_owned).chain(wrong)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_script_of_ours_is_among_them() {
        let locks = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/locks");
        let mut found = 0;
        for folder in ["scripts", "redisson/scripts"] {
            let entries = fs::read_dir(locks.join(folder)).expect("the folder is there");
            for entry in entries {
                let path = entry.expect("it can be listed").path();
                let text = fs::read_to_string(&path).expect("scripts are text");
                let is_known = own_scripts().any(|script| script.contains(&text));
                assert!(is_known, "{} is left out", path.display());
                found += 1;
            }
        }
        // The head of the fair lock is part of others.
        assert_eq!(found, RIGHT.len() + 1);
    }
}
