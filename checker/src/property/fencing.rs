//! Fencing: tokens grow with each grant, and the resource takes none after a larger one.
//!
//! ```text
//! a   |--33--|=======|  . . . . . . . . . .  |--write 33--|   accepted: the resource is at fault
//! b                     |--34--|=|-write 34-|
//! c                                |--34--|                   granted: the service is at fault
//! ```
//!
//! Only what follows in time is compared: an answer before an invocation. Each grant and each
//! effect that should not be counts once, set against the largest token before it, or against the
//! first grant of the same token. Absent and 0 mean that the token is unknown.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::rule::{BlameWindow, Causes, Rule};
use crate::case::{Case, Finding, Ruling, Tested, keep_few, keep_first};
use crate::history::{Mode, Nanos};
use crate::operations::{Access, Action, Interval, KeyId, OpId, Operation, Outcome, OwnerId};
use crate::story::Teller;
use crate::text;
use crate::verdict::Property;

/// The rule of this property.
pub(super) struct Fencing;

impl Rule for Fencing {
    fn judge(&self, case: &Case) -> Ruling {
        judge(case)
    }

    fn claim(&self, case: &Case, finding: &Finding, _: Interval) -> String {
        claim(case, finding)
    }

    fn kind(&self, case: &Case, finding: &Finding) -> Option<&'static str> {
        Some(match breach(case, finding)? {
            Breach::Order(..) => "order",
            Breach::Duplicate(..) => "duplicate",
            Breach::Acceptance(..) => "acceptance",
        })
    }

    fn narrate(&self, teller: &mut Teller, _: Interval) {
        teller.tokens();
    }

    fn verify_witness(&self, case: &Case, finding: &Finding) -> bool {
        verify_witness(case, finding)
    }

    fn blame_window(&self) -> BlameWindow {
        BlameWindow::BetweenHolds
    }

    fn causes(&self) -> Causes {
        Causes::Forgetting
    }

    fn survives_clock_error(&self) -> bool {
        true
    }
}

/// Something that shows a token: a grant, or an effect on the resource.
#[derive(Clone, Copy)]
struct Showing {
    op: OpId,
    token: u64,
    owner: OwnerId,
    shared: bool,
    invoked: Nanos,
    answered: Nanos,
    /// A grant to an owner that may hold the lock, and may therefore be told its token again.
    may_repeat: bool,
}

fn judge(case: &Case) -> Ruling {
    let (mut grants, mut effects) = (BTreeMap::new(), BTreeMap::new());
    for (op, operation) in OpId::each(&case.digest.operations) {
        let Some(showing) = showing(op, operation) else {
            continue;
        };
        if operation.action == Action::Acquire {
            grants
                .entry(operation.key)
                .or_insert_with(Vec::new)
                .push(showing);
        } else {
            let resource = case
                .digest
                .detail(operation)
                .and_then(|detail| detail.resource);
            let place = (operation.key, resource);
            effects.entry(place).or_insert_with(Vec::new).push(showing);
        }
    }
    let mut tally = Tally::default();
    let unanswered = Unanswered::of(case);
    for (&key, grants) in &mut grants {
        judge_grants(case, &unanswered, &mut tally, (key, grants));
    }
    for (&(key, _), effects) in &effects {
        tally.is_tested |= effects.len() > 1;
        for (late, largest) in after_larger(effects) {
            tally.note(key, largest, late);
        }
    }
    keep_first(&mut tally.findings);
    name_holds(case, &mut tally.findings);
    Ruling {
        engine: "token-scan",
        has_matter: !grants.is_empty() || !effects.is_empty(),
        count: tally.count,
        findings: tally.findings,
        tested: if tally.is_tested {
            Tested::Yes
        } else {
            Tested::No("there were no two fencing tokens of one lock to compare".to_owned())
        },
    }
}

/// A known token that was granted, or accepted with an effect.
fn showing(op: OpId, operation: &Operation) -> Option<Showing> {
    match operation.action {
        Action::Acquire | Action::Resource(Access::Write | Access::Cas | Access::Append) => {}
        Action::Resource(Access::Read) | Action::Renew | Action::Release | Action::Other => {
            return None;
        }
    }
    Some(Showing {
        op,
        token: operation.token.filter(|&token| token > 0)?,
        owner: operation.owner,
        shared: operation.mode == Mode::Read,
        invoked: operation.invoked,
        answered: operation
            .answered()
            .filter(|_| operation.outcome == Outcome::Ok)?,
        may_repeat: false,
    })
}

#[derive(Default)]
struct Tally {
    count: u64,
    findings: Vec<Finding>,
    is_tested: bool,
}

impl Tally {
    /// `late` should not have been, for `earlier` was.
    fn note(&mut self, key: KeyId, earlier: Showing, late: Showing) {
        self.count += 1;
        self.findings.push(Finding {
            property: Property::Fencing,
            key,
            holds: Vec::new(),
            operations: vec![earlier.op, late.op],
            interval: Interval::new(late.invoked, late.answered),
            certain: true,
        });
        keep_few(&mut self.findings);
    }
}

fn judge_grants(
    case: &Case,
    unanswered: &Unanswered,
    tally: &mut Tally,
    (key, grants): (KeyId, &mut Vec<Showing>),
) {
    tally.is_tested |= grants.len() > 1;
    for grant in &mut *grants {
        let standing = case.standing(grant.op);
        grant.may_repeat = standing.is_none_or(|standing| standing.most > 0);
    }
    let repeats = repeats(grants);
    // Who shares the lock may be told its own token again after others have got larger ones.
    let late: HashMap<OpId, Showing> = after_larger(grants)
        .into_iter()
        .filter(|(late, _)| {
            let shares = case.permits() > 1 || late.shared;
            let is_own = || matches!(repeats.get(&late.op), Some(Repeat::Own));
            !(shares && (is_own() || unanswered.may_have_told(key, late)))
        })
        .map(|(late, largest)| (late.op, largest))
        .collect();
    for &grant in &*grants {
        if let Some(&largest) = late.get(&grant.op) {
            tally.note(key, largest, grant);
        } else if let Some(&Repeat::Of(first)) = repeats.get(&grant.op) {
            tally.note(key, first, grant);
        }
    }
}

/// Time at which somebody may have held a lock since an acquire without an answer: nobody knows the
/// token of such a hold.
struct Unanswered(HashMap<(KeyId, OwnerId), Vec<Interval>>);

impl Unanswered {
    fn of(case: &Case) -> Self {
        let mut all: HashMap<_, Vec<Interval>> = HashMap::new();
        for hold in case.holds {
            if case.digest.operation(hold.acquire).outcome == Outcome::Unknown {
                let place = (hold.key, hold.owner);
                all.entry(place).or_default().push(hold.possible());
            }
        }
        Self(all)
    }

    /// Tells whether a grant may repeat the token of such a hold.
    fn may_have_told(&self, key: KeyId, grant: &Showing) -> bool {
        let lasts = |held: &Interval| held.start <= grant.invoked && grant.invoked <= held.end;
        let own = self.0.get(&(key, grant.owner));
        own.is_some_and(|own| own.iter().any(lasts))
    }
}

/// Each showing whose token is smaller than one that was answered before it was sent, with the
/// largest such.
fn after_larger(showings: &[Showing]) -> Vec<(Showing, Showing)> {
    // They come in order of their events, which is that of invocation unless times go back.
    let mut sent = showings.to_vec();
    sent.sort_by_key(|showing| (showing.invoked, showing.op));
    let mut answered = sent.clone();
    answered.sort_by_key(|showing| showing.answered);
    let mut answered = answered.into_iter().peekable();
    let mut largest: Option<Showing> = None;
    let mut late = Vec::new();
    for showing in sent {
        while let Some(earlier) = answered.next_if(|earlier| earlier.answered < showing.invoked) {
            if largest.is_none_or(|largest| earlier.token > largest.token) {
                largest = Some(earlier);
            }
        }
        late.extend(
            largest
                .filter(|largest| largest.token > showing.token)
                .map(|largest| (showing, largest)),
        );
    }
    late
}

/// Relation of a grant to an earlier one of the same token.
#[derive(Clone, Copy)]
enum Repeat {
    /// It repeats the token of an owner that may still hold the lock.
    Own,
    /// It has the token of a grant that is over, or of another owner.
    Of(Showing),
}

/// The grants that have a token again.
fn repeats(grants: &[Showing]) -> HashMap<OpId, Repeat> {
    // Tokens of a good lock grow, so that this finds them nearly sorted.
    let mut by_token = grants.to_vec();
    by_token.sort_by_key(|grant| (grant.token, grant.answered, grant.op));
    let mut repeats = HashMap::new();
    let same_token = by_token.chunk_by(|one, next| one.token == next.token);
    for same in same_token.filter(|same| same.len() > 1) {
        let (mut writers, mut all) = (Firsts::default(), Firsts::default());
        let mut owners = HashSet::new();
        for &grant in same {
            let is_first = owners.insert(grant.owner);
            let against = if grant.shared { &writers } else { &all };
            let first = if is_first || grant.may_repeat {
                against.of_others(grant.owner)
            } else {
                all.first
            };
            if let Some(first) = first {
                repeats.insert(grant.op, Repeat::Of(first));
            } else if !is_first {
                repeats.insert(grant.op, Repeat::Own);
            }
            all.add(grant);
            if !grant.shared {
                writers.add(grant);
            }
        }
    }
    repeats
}

/// The first grant of a token, and the first to another owner.
#[derive(Default)]
struct Firsts {
    first: Option<Showing>,
    other: Option<Showing>,
}

impl Firsts {
    fn add(&mut self, grant: Showing) {
        match self.first {
            None => self.first = Some(grant),
            Some(first) if first.owner != grant.owner => {
                self.other.get_or_insert(grant);
            }
            Some(_) => {}
        }
    }

    fn of_others(&self, owner: OwnerId) -> Option<Showing> {
        self.first
            .filter(|first| first.owner != owner)
            .or(self.other)
    }
}

/// The three ways to violate the property: what came first, and what should not have followed.
enum Breach<'a> {
    Order(&'a Operation, &'a Operation),
    Duplicate(&'a Operation, &'a Operation),
    Acceptance(&'a Operation, &'a Operation),
}

fn breach<'a>(case: &Case<'a>, finding: &Finding) -> Option<Breach<'a>> {
    let &[first, late] = finding.operations.as_slice() else {
        return None;
    };
    let (first, late) = (case.digest.operation(first), case.digest.operation(late));
    Some(match late.action {
        Action::Resource(_) => Breach::Acceptance(first, late),
        Action::Acquire | Action::Renew | Action::Release | Action::Other => {
            if first.token == late.token {
                Breach::Duplicate(first, late)
            } else {
                Breach::Order(first, late)
            }
        }
    })
}

fn claim(case: &Case, finding: &Finding) -> String {
    let lock = text::lock(case.digest.key(finding.key));
    let owner = |operation: &Operation| text::name(case.digest.owner(operation.owner));
    let token = |operation: &Operation| operation.token.unwrap_or_default();
    match breach(case, finding) {
        Some(Breach::Order(first, late)) => format!(
            "{} was granted {lock} with token {}, after {} had been granted it with token {}: the \
             lock gave out a token that is not new",
            owner(late),
            token(late),
            owner(first),
            token(first),
        ),
        Some(Breach::Duplicate(first, late)) if first.owner == late.owner => format!(
            "{} was granted {lock} twice with token {}, though the first grant was over: the lock \
             gave out a token that is not new",
            owner(late),
            token(late),
        ),
        Some(Breach::Duplicate(first, late)) => format!(
            "{} and {} were both granted {lock} with token {}: the lock gave out one token twice",
            owner(first),
            owner(late),
            token(late),
        ),
        Some(Breach::Acceptance(first, late)) => format!(
            "the resource of {lock} accepted token {} of {}, after token {} of {}: it let a stale \
             holder through",
            token(late),
            owner(late),
            token(first),
            owner(first),
        ),
        None => format!("the fencing tokens of {lock} do not grow"),
    }
}

/// For the picture and the story: the holds that the grants of each finding began.
fn name_holds(case: &Case, findings: &mut [Finding]) {
    if findings.is_empty() {
        return;
    }
    let by_acquire = case.holds_by_acquire();
    for finding in findings {
        let holds = finding
            .operations
            .iter()
            .filter_map(|op| by_acquire.get(op));
        finding.holds = holds.copied().collect();
    }
}

fn verify_witness(case: &Case, finding: &Finding) -> bool {
    let known = |operation: &Operation| {
        let shown = operation.token.is_some_and(|token| token > 0);
        shown && operation.outcome == Outcome::Ok && operation.key == finding.key
    };
    let in_order = |first: &Operation, late: &Operation| {
        let before = first
            .answered()
            .is_some_and(|answered| answered < late.invoked);
        before && first.token > late.token
    };
    let resource = |operation| {
        case.digest
            .detail(operation)
            .and_then(|detail| detail.resource)
    };
    match breach(case, finding) {
        Some(Breach::Order(first, late)) => known(first) && known(late) && in_order(first, late),
        Some(Breach::Duplicate(first, late)) => {
            let shared = first.mode == Mode::Read && late.mode == Mode::Read;
            let over = || {
                let standing = case.standing(finding.operations[1]);
                standing.is_some_and(|standing| standing.most == 0)
            };
            let apart = if first.owner == late.owner {
                over()
            } else {
                !shared
            };
            known(first) && known(late) && apart
        }
        Some(Breach::Acceptance(first, late)) => {
            let one = resource(first) == resource(late);
            known(first) && known(late) && one && in_order(first, late)
        }
        None => false,
    }
}
