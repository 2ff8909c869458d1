use std::sync::Mutex;

use mcpgraph_value::{Map, Value};

use super::Answer;

/// Orders kept in memory: enough to decide and to change something.
pub(super) struct Orders(Mutex<Vec<Order>>);

#[derive(Clone)]
struct Order {
    id: &'static str,
    customer: &'static str,
    total: f64,
    status: String,
    items: &'static [&'static str],
}

/// What an order's status may be.
pub(super) const STATUSES: [&str; 4] = ["pending", "paid", "shipped", "cancelled"];

impl Orders {
    pub(super) fn new() -> Self {
        let order = |id, customer, total, status: &str, items| Order {
            id,
            customer,
            total,
            status: status.to_owned(),
            items,
        };
        Self(Mutex::new(vec![
            order("A-100", "Ada", 250.0, "pending", &["lamp", "desk"]),
            order("A-101", "Grace", 40.5, "paid", &["cable"]),
            order("A-102", "Linus", 1200.0, "pending", &["workstation"]),
            order("A-103", "Barbara", 15.0, "shipped", &["book"]),
        ]))
    }

    pub(super) fn list(&self, status: Option<&str>) -> Answer {
        status.map_or(Ok(()), known)?;
        let orders = self.lock();
        let found =
            orders.iter().filter(|order| status.is_none_or(|status| order.status == status));
        let found = Value::from(found.map(Order::to_value).collect::<Vec<_>>());
        Ok(Map::from_iter([("orders", found)]).into())
    }

    pub(super) fn get(&self, id: &str) -> Answer {
        self.lock()
            .iter()
            .find(|order| order.id == id)
            .map(Order::to_value)
            .ok_or_else(|| format!("there is no order `{id}`"))
    }

    pub(super) fn set_status(&self, id: &str, status: &str) -> Answer {
        known(status)?;
        let mut orders = self.lock();
        let order = orders
            .iter_mut()
            .find(|order| order.id == id)
            .ok_or_else(|| format!("there is no order `{id}`"))?;
        status.clone_into(&mut order.status);
        Ok(order.to_value())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Order>> {
        // A panic while the table was held cannot leave it half changed.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whether there is such a status.
fn known(status: &str) -> Result<(), String> {
    if STATUSES.contains(&status) {
        return Ok(());
    }
    Err(format!("`status` must be one of {}, not `{status}`", STATUSES.join(", ")))
}

impl Order {
    fn to_value(&self) -> Value {
        let items: Vec<Value> = self.items.iter().map(|item| Value::from(*item)).collect();
        Map::from_iter([
            ("id", Value::from(self.id)),
            ("customer", Value::from(self.customer)),
            ("total", Value::from(self.total)),
            ("status", Value::from(self.status.as_str())),
            ("items", Value::from(items)),
        ])
        .into()
    }
}
