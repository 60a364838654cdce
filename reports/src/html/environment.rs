//! Where it ran, on what, and how to repeat it.

use lockstorm_scenarios::Origin;
use maud::{Markup, html};

use super::{page, table};
use crate::inert::visible;
use crate::model::{Environment, RunRecord, SuiteRecord};

/// Lines of a scenario that a page shows; the file beside it has them all.
const SCENARIO_LINES_MAX: usize = 1_000;

const HOW: &str = "Whatever is needed to weigh the run or to repeat it.";

const COLUMNS: [&str; 3] = ["Node", "Role at the start", "Address"];

/// The section of a run; `left_out` names what is not on its page.
pub(super) fn of_run(run: &RunRecord, scenario: Option<&str>, left_out: &[String]) -> Markup {
    let body = html! {
        (facts(&run.environment))
        (identity(run))
        @if let Some(adapter) = &run.environment.adapter {
            dl.facts.wide { dt { "Adapter" } dd { (visible(adapter)) } }
        }
        @if let Some(prefix) = &run.environment.prefix {
            dl.facts.wide {
                dt { "Prefix" } dd {
                    code { (visible(prefix)) } " begins the name of every key and channel of the "
                    "run; " code { "lockstorm clean" } " removes what is left of it"
                }
            }
        }
        (nodes(&run.environment))
        @if let Some(scenario) = scenario { (listing(scenario)) }
        (missing(left_out, scenario.is_some()))
    };
    page::section("environment", "Environment", HOW, &body)
}

/// Renders what tells this run from every other.
fn identity(run: &RunRecord) -> Markup {
    html! {
        dl.facts.wide {
            dt { "Seed" } dd {
                code { (run.seed) } ", repetition " (run.repetition) ": every choice of the run "
                "follows from these"
            }
            dt { "Started" } dd { (visible(&run.started)) }
            @if let Some(hash) = &run.environment.history_sha256 {
                dt { "History" } dd { code { "sha256 " (visible(hash)) } " of history.jsonl" }
            }
        }
    }
}

/// Renders what is not on the page, and where it is.
fn missing(left_out: &[String], has_scenario: bool) -> Markup {
    html! {
        @if !has_scenario {
            p.warning { "scenario.toml is not at hand: how the run was set up is not known." }
        }
        @if left_out.is_empty() {
            p { "Every finding of the run is on this page. history.jsonl has every event." }
        } @else {
            p { "Not on this page: " (left_out.join("; ")) ". history.jsonl has every event." }
        }
    }
}

/// The section of a suite: the environment of its first run, which its runs share.
pub(super) fn of_suite(suite: &SuiteRecord) -> Markup {
    let mut environments = suite.runs.iter().map(|run| &run.record.environment);
    let first = environments.next();
    let differs = environments.any(|other| {
        first.is_some_and(|first| other.server != first.server || other.system != first.system)
    });
    let body = html! {
        @if let Some(environment) = first { (facts(environment)) }
        @if differs {
            p.warning {
                "The runs differ in server or system, as their own reports say. Servers: "
                (visible(&suite.servers().join(", "))) "."
            }
        }
    };
    page::section("environment", "Environment", HOW, &body)
}

fn facts(environment: &Environment) -> Markup {
    html! {
        dl.facts.wide {
            dt { "Lockstorm" } dd { (visible(&environment.lockstorm)) }
            dt { "Server" } dd {
                (visible(&environment.server)) " " code { (visible(&environment.server_path)) }
            }
            dt { "System" } dd {
                (visible(&environment.system)) ", " (environment.cores) " cores"
            }
            dt { "Network" } dd { (visible(&environment.network)) (round_trip(environment)) }
        }
    }
}

fn round_trip(environment: &Environment) -> Markup {
    html! {
        @if let Some(through) = environment.round_trip_us {
            (format!(", median round trip {through:.0} µs"))
            @if let Some(direct) = environment.round_trip_direct_us {
                (format!(" through the {}, {direct:.0} µs past it", way(&environment.network)))
            }
        }
    }
}

/// Says in words what stands in the path.
fn way(network: &str) -> &str {
    if network == "kernel" {
        "queue of packets"
    } else {
        "fabric"
    }
}

fn nodes(environment: &Environment) -> Markup {
    html! {
        @if !environment.nodes.is_empty() {
            table {
                (table::head(&COLUMNS))
                tbody {
                    @for node in &environment.nodes {
                        tr {
                            th scope="row" { (visible(&node.name)) }
                            td { (visible(&node.role)) }
                            td { code { (visible(&node.address)) } }
                        }
                    }
                }
            }
        }
    }
}

/// A line of a stored scenario, and the remark at its end that says where its value is from.
fn line_and_origin(line: &str) -> (&str, Option<&str>) {
    let remark = Origin::ALL.iter().find_map(|origin| {
        let at = line.strip_suffix(origin.name())?.strip_suffix("  # ")?;
        Some(line.split_at(at.len()))
    });
    remark.map_or((line, None), |(words, remark)| (words, Some(remark)))
}

/// The scenario as it ran, with line numbers.
fn listing(scenario: &str) -> Markup {
    let total = scenario.lines().count();
    html! {
        details {
            summary { "The scenario as it ran, with every value and where it is from" }
            p.how {
                "A value without a remark is from the file of the scenario. Default means that \
                 nobody chose it; comparison, that it is from the row of a comparison; command \
                 line, that it is from an option such as --set."
            }
            pre.listing tabindex="0" {
                @for line in scenario.lines().take(SCENARIO_LINES_MAX) {
                    @let (words, origin) = line_and_origin(line);
                    span {
                        (visible(words))
                        @if let Some(origin) = origin { em { (visible(origin)) } }
                        "\n"
                    }
                }
            }
            @if total > SCENARIO_LINES_MAX {
                p.warning {
                    "Showing only the first " (SCENARIO_LINES_MAX) " of " (total) " lines."
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_remark_on_an_origin_is_told_from_the_line() {
        let told = line_and_origin("keys = 1  # default");
        assert_eq!(told, ("keys = 1", Some("  # default")));
        for line in ["keys = 1", "wait = \"a  # b\"", "keys = 1 # default", ""] {
            assert_eq!(line_and_origin(line), (line, None));
        }
    }
}
