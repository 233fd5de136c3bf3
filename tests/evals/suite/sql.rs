//! Tables of the agent's own.

use serde_json::{Value, json};

use super::Task;
use crate::support::{Peer, call, text as says};

pub fn query(query: &str) -> Value {
    json!({ "query": query })
}

pub fn new_table(_: &Peer) -> Task {
    Task::new(
        "new_table",
        "Make a table `books` with a title and a year, and put in: Dune (1965), Solaris (1961), Neuromancer (1984).",
    )
    .sql(
        "SELECT string_agg(concat_ws(' ', title, year), ', ' ORDER BY title) FROM agent.books",
        "Dune 1965, Neuromancer 1984, Solaris 1961",
    )
    .right([
        call("execute_sql", query("CREATE TABLE agent.books (title text, year integer)")),
        call("execute_sql", query("INSERT INTO agent.books VALUES ('Dune', 1965), ('Solaris', 1961), ('Neuromancer', 1984)")),
        says("The table is made and has three rows."),
    ])
}

pub fn sum(_: &Peer) -> Task {
    Task::new(
        "existing_data",
        "The table `orders` holds what customers bought. Add up the cents of the customer ada, and insert one row with that sum into the \
         table `totals`.",
    )
    .before("execute_sql", query("CREATE TABLE agent.orders (customer text, item text, cents integer)"))
    .before("execute_sql", query("CREATE TABLE agent.totals (customer text, cents integer)"))
    .before(
        "execute_sql",
        query("INSERT INTO agent.orders VALUES ('ada', 'tea', 1250), ('bob', 'cups', 999), ('ada', 'pot', 3461), ('eve', 'tea', 1250)"),
    )
    .sql("SELECT string_agg(customer || ' ' || cents, ', ') FROM agent.totals", "ada 4711")
    .sql("SELECT count(*) FROM agent.orders", "4")
    .right([
        call("execute_sql", query("INSERT INTO agent.totals SELECT 'ada', sum(cents) FROM agent.orders WHERE customer = 'ada'")),
        says("The sum, 4711 cents, is in the table totals."),
    ])
}

pub fn change_some(_: &Peer) -> Task {
    Task::new(
        "change_some",
        "In the table `items`, set `status` to 'sold out' for everything whose `stock` is 0. Leave the rest as it is.",
    )
    .before("execute_sql", query("CREATE TABLE agent.items (name text, stock integer, status text)"))
    .before("execute_sql", query("INSERT INTO agent.items VALUES ('cup', 3, 'there'), ('pot', 0, 'there'), ('tray', 0, 'there')"))
    .sql(
        "SELECT string_agg(name || ' ' || status, ', ' ORDER BY name) FROM agent.items",
        "cup there, pot sold out, tray sold out",
    )
    .right([
        call("execute_sql", query("UPDATE agent.items SET status = 'sold out' WHERE stock = 0")),
        says("Two rows are changed."),
    ])
}

pub fn follow_up(_: &Peer) -> Task {
    let mut task = Task::new("follow_up", "Make a table `shopping` with one column `item`, and add eggs.")
        .sql("SELECT string_agg(lower(item), ', ' ORDER BY lower(item)) FROM agent.shopping", "eggs, flour")
        .right([
            call("execute_sql", query("CREATE TABLE agent.shopping (item text)")),
            call("execute_sql", query("INSERT INTO agent.shopping VALUES ('eggs')")),
            says("Eggs are on it."),
            call("execute_sql", query("INSERT INTO agent.shopping VALUES ('flour')")),
            says("Flour too."),
        ]);
    task.says.push("And flour, too.".to_owned());
    task
}
