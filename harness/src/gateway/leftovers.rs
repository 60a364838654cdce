//! The keys of a run on a server that someone else runs: found by their prefix, and removed.

use redis::{Cmd, Value};

use super::upstream::{EnterError, Entered, Upstream};

/// Keys that are removed with one command.
const REMOVED_AT_ONCE: usize = 500;
/// Keys that the server looks at before it answers others again.
const LOOKED_AT_ONCE: usize = 500;

/// Every key on the server that begins with `prefix`, in order.
///
/// # Errors
/// When the server cannot be entered, or refuses.
pub async fn find(upstream: &Upstream, prefix: &str) -> Result<Vec<Vec<u8>>, EnterError> {
    let mut wire = upstream.enter().await?;
    let mut cursor = b"0".to_vec();
    let mut found = Vec::new();
    loop {
        let mut scan = Cmd::new();
        scan.arg("SCAN").arg(&cursor).arg("MATCH");
        scan.arg(format!("{}*", literal(prefix)));
        scan.arg("COUNT").arg(LOOKED_AT_ONCE);
        let reply = send(&mut wire, &scan).await?;
        let (next, keys) = page(reply).ok_or_else(|| {
            EnterError::Refused("it answers SCAN with something else than keys".to_owned())
        })?;
        // Whatever the server takes for a match: of others nothing is touched.
        found.extend(
            keys.into_iter()
                .filter(|key| key.starts_with(prefix.as_bytes())),
        );
        if next == b"0" {
            break;
        }
        cursor = next;
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Removes these keys.
///
/// # Errors
/// As for [`find`].
pub async fn remove(
    upstream: &Upstream,
    command: &str,
    keys: &[Vec<u8>],
) -> Result<(), EnterError> {
    if keys.is_empty() {
        return Ok(());
    }
    let mut wire = upstream.enter().await?;
    for some in keys.chunks(REMOVED_AT_ONCE) {
        let mut remove = Cmd::new();
        remove.arg(command).arg(some);
        send(&mut wire, &remove).await?;
    }
    Ok(())
}

async fn send(wire: &mut Entered, command: &Cmd) -> Result<Value, EnterError> {
    let reply = wire.send(command).await;
    reply.map_err(|error| EnterError::Refused(error.to_string()))
}

/// Where a SCAN goes on, and the keys that it has found.
fn page(reply: Value) -> Option<(Vec<u8>, Vec<Vec<u8>>)> {
    let bytes = |value| match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    };
    let Value::Array(parts) = reply else {
        return None;
    };
    let [cursor, Value::Array(keys)] = <[Value; 2]>::try_from(parts).ok()? else {
        return None;
    };
    let keys = keys.into_iter().map(bytes).collect::<Option<_>>()?;
    Some((bytes(cursor)?, keys))
}

/// A pattern that only this text matches.
fn literal(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        if "\\*?[]^-".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sign_of_a_prefix_stands_for_others() {
        assert_eq!(literal("team:"), "team:");
        assert_eq!(literal(r"a*[b]?\"), r"a\*\[b\]\?\\");
    }
}
