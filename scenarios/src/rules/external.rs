//! Rules on servers that someone else runs: how they are found, and what may be done to them.

use super::findings::Findings;
use super::topology::NODES_MAX;
use crate::draft::Draft;
use crate::model::{External, ExternalUse, FaultSpec, Tls, UrlError, is_usual_variable};

/// Length of a prefix at most: it stands before every key and channel.
const PREFIX_BYTES_MAX: usize = 64;
/// Characters that a prefix cannot have: braces would say to which shard all keys belong, and the
/// others mean something else in patterns.
const NOT_IN_A_PREFIX: [char; 7] = ['{', '}', '*', '?', '[', ']', '\\'];

/// Judges the servers at `path`.
pub(crate) fn judge(external: &External, path: &str, findings: &mut Findings<'_>) {
    judge_number(external, path, findings);
    let lists = [("urls", &external.urls), ("replicas", &external.replicas)];
    for (list, urls) in lists {
        for (n, url) in urls.iter().enumerate() {
            if let Err(error) = url.check() {
                let help = "such as \"redis://user:${PASSWORD}@host:6379\", or rediss:// for TLS";
                findings.value(&format!("{path}.{list}.{n}"), error.to_string(), help);
            } else if external.password_env.is_none() && url.names_user_alone() {
                let help = "user:password@host, or the variable of the password in password-env";
                let message = UrlError::UserAlone.to_string();
                findings.value(&format!("{path}.{list}.{n}"), message, help);
            }
        }
    }
    judge_prefix(&external.prefix, path, findings);
    if let Some(name) = &external.password_env
        && !is_usual_variable(name)
    {
        // Whatever it is, it may be the password itself.
        let message = "`password-env` must be the name of an environment variable";
        let help = "the variable that holds the password, in capitals, such as \"REDIS_PASSWORD\"";
        findings.key(&format!("{path}.password-env"), message, help);
    }
    judge_tls(external, path, findings);
}

/// Tells whether the number of servers is possible, and so their names mean something.
pub(crate) fn is_possible(external: &External) -> bool {
    wrong_number(external).is_none()
}

fn judge_number(external: &External, path: &str, findings: &mut Findings<'_>) {
    if let Some((list, message, help)) = wrong_number(external) {
        findings.key(&format!("{path}.{list}"), message, help);
    }
}

/// The list that is too long or too short, what is wrong, and what would be right.
fn wrong_number(external: &External) -> Option<(&'static str, String, &'static str)> {
    let (masters, replicas) = (external.urls.len(), external.replicas.len());
    if masters == 0 {
        let help = "name the server that takes writes: urls = [\"redis://host:6379\"]";
        Some(("urls", "there is no server".to_owned(), help))
    } else if masters > 1 && replicas > 0 {
        let message = format!("nobody can tell which of {masters} masters they are replicas of");
        let help = "one url with its replicas, or several urls without any";
        Some(("replicas", message, help))
    } else if masters > 1 && masters.is_multiple_of(2) {
        let message = format!("{masters} masters are an even number");
        let help = "take an odd number: one master less tolerates as many failures; replicas of \
                    one server go into `replicas`";
        Some(("urls", message, help))
    } else if masters + replicas > NODES_MAX as usize {
        let message = format!("{} servers are too many", masters + replicas);
        Some(("urls", message, "at most 31"))
    } else {
        None
    }
}

fn judge_prefix(prefix: &str, path: &str, findings: &mut Findings<'_>) {
    let plain = |c: char| c.is_ascii_graphic() && !NOT_IN_A_PREFIX.contains(&c);
    let wrong = if prefix.is_empty() {
        "without a prefix, keys of others could be meant"
    } else if prefix.len() > PREFIX_BYTES_MAX {
        "the prefix is too long"
    } else if !prefix.chars().all(plain) {
        "the prefix has a blank, a sign that patterns use, or one beyond ASCII"
    } else {
        return;
    };
    let help = format!("up to {PREFIX_BYTES_MAX} plain characters, such as \"lockstorm:\"");
    findings.value(&format!("{path}.prefix"), wrong, &help);
}

fn judge_tls(external: &External, path: &str, findings: &mut Findings<'_>) {
    let tls = &external.tls;
    let path = format!("{path}.tls");
    for (there, missing) in [("cert", "key"), ("key", "cert")] {
        let has = |name| if name == "cert" { &tls.cert } else { &tls.key };
        if has(there).is_some() && has(missing).is_none() {
            let help = format!("add tls.{missing}");
            let message =
                format!("a certificate and its key belong together: there is only {there}");
            findings.key(&format!("{path}.{there}"), message, &help);
        }
    }
    let nobody_asks = external.all_urls().all(|url| url.tls() == Some(false));
    if *tls != Tls::default() && nobody_asks {
        let help = "write rediss:// instead of redis://";
        findings.key(&path, "no url asks for TLS", help);
    }
}

/// Judges whether the fault at `path` may be done to these servers; `false` where no permission
/// would make it possible.
pub(super) fn judge_fault(
    external: &External,
    fault: &FaultSpec,
    path: &str,
    findings: &mut Findings<'_>,
) -> bool {
    match fault.on_external() {
        ExternalUse::Ours => true,
        ExternalUse::Felt(disturbance) if external.allow.contains(&disturbance) => true,
        ExternalUse::Felt(disturbance) => {
            let word = disturbance.name();
            let message = format!("{word} is felt by everybody who uses these external servers");
            let help = format!("if they are yours alone: topology.external.allow = [\"{word}\"]");
            findings.key(path, message, &help);
            true
        }
        ExternalUse::Impossible(reason, remedy) => {
            let word = fault.kind();
            let message = format!("{word} is impossible on external servers: {reason}");
            findings.key(path, message, remedy);
            false
        }
    }
}

/// Judges what else servers are asked for.
pub(crate) fn judge_use(draft: &Draft, findings: &mut Findings<'_>) {
    let Some(topology) = &draft.topology else {
        return;
    };
    let mut refused = draft
        .trace
        .iter()
        .filter_map(|trace| topology.refuses(*trace));
    if let Some(why) = refused.next() {
        findings.key("trace", why, "leave it out");
    }
}
