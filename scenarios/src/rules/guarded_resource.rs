//! Rules on what the lock protects, and on the steps that use it.

use super::findings::Findings;
use crate::draft::Draft;
use crate::model::{GuardedResource, LockFeature, Orders, Step};

/// Orders at most: each find lists all that were closed so far.
const ORDERS_MAX: u32 = 1000;
const PATH: &str = "guarded-resource.orders";

/// Judges the guarded resource, if there is one, and that there is one where steps use it.
pub(crate) fn judge(draft: &Draft, findings: &mut Findings<'_>) {
    match &draft.guarded_resource {
        Some(GuardedResource::Orders(orders)) => judge_orders(orders, draft, findings),
        // One that could not be read was meant to be there.
        None if findings.has("guarded-resource") => {}
        None => judge_absence(draft, findings),
    }
}

fn judge_orders(orders: &Orders, draft: &Draft, findings: &mut Findings<'_>) {
    if orders.count == 0 || orders.count > ORDERS_MAX {
        let message = format!("{} is no possible number of orders", orders.count);
        let help = format!("1 to {ORDERS_MAX}");
        findings.value(&format!("{PATH}.count"), message, &help);
    }
    if let Some(lock) = &draft.lock
        && orders.fenced
        && !lock.kind().has(LockFeature::Tokens)
    {
        let message = format!("{} gives no fencing tokens", lock.kind().name());
        let help = "leave it out, or take `token-fenced` or `redisson-fenced`";
        findings.value(&format!("{PATH}.fenced"), message, help);
    }
    let keys = draft.clients.as_ref().map_or(1, |clients| clients.keys);
    if draft.storm.is_some() && keys > 1 {
        let message = format!("{keys} locks do not guard one resource");
        let help = "the holder of one of them is not alone; leave it out, or the resource";
        findings.value("clients.keys", message, help);
    }
}

fn judge_absence(draft: &Draft, findings: &mut Findings<'_>) {
    for (n, step) in draft.steps.iter().enumerate() {
        if let Some(step @ (Step::FindOrders(_) | Step::CloseOrders(_))) = step {
            let path = format!("step.{n}.{}", step.kind());
            let help = "add guarded-resource.orders = {}";
            findings.key(&path, "there are no orders", help);
        }
    }
}
