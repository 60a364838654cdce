//! Where it ran, on what, and how to repeat it.

use maud::{Markup, html};

use super::page;
use crate::inert::visible;
use crate::model::{Environment, RunRecord, SuiteRecord};

/// Lines of a scenario that a page shows; the file beside it has them all.
const SCENARIO_LINES_MAX: usize = 1_000;

const HOW: &str = "Whatever is needed to weigh the run or to repeat it.";

/// The section of a run.
pub(super) fn of_run(run: &RunRecord, scenario: Option<&str>) -> Markup {
    let body = html! {
        (facts(&run.environment))
        @if let Some(adapter) = &run.environment.adapter {
            dl.facts.wide { dt { "Adapter" } dd { (visible(adapter)) } }
        }
        (nodes(&run.environment))
        @if let Some(scenario) = scenario { (listing(scenario)) }
    };
    page::section("environment", "Environment", HOW, &body)
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
            p.warning { "The runs differ in server or system; their own reports say how." }
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

/// What stands in the path, in words.
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
                thead { tr {
                    th scope="col" { "Node" }
                    th scope="col" { "Role at the start" }
                    th scope="col" { "Address" }
                } }
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

/// The scenario as it ran, with line numbers.
fn listing(scenario: &str) -> Markup {
    let total = scenario.lines().count();
    html! {
        details {
            summary { "The scenario as it ran" }
            pre.listing tabindex="0" {
                @for line in scenario.lines().take(SCENARIO_LINES_MAX) {
                    span { (visible(line)) "\n" }
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
