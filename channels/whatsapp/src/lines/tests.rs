//! Tests of `lines`.

use super::*;

async fn all(input: &'static [u8]) -> Vec<Heard> {
    let mut orders = orders(input);
    let mut heard = Vec::new();
    while let Some(one) = orders.recv().await {
        heard.push(one);
    }
    heard
}

#[tokio::test]
async fn lines_become_orders_until_the_input_ends() {
    let heard = all(b"{\"kind\":\"logout\"}\n{\"kind\":\"typing\",\"to\":\"+49\",\"on\":false}").await;
    assert!(matches!(heard[..], [Heard::Order(Order::Logout), Heard::Order(Order::Typing { .. })]));
}

#[tokio::test]
async fn nothing_is_read_after_a_wrong_line() {
    let heard = all(b"what?\n{\"kind\":\"logout\"}\n").await;
    assert!(matches!(heard[..], [Heard::Wrong(_)]));
    assert!(matches!(all(b"\xff\n").await[..], [Heard::Wrong(_)]));
}

#[tokio::test]
async fn a_line_without_end_is_not_read_to_its_end() {
    let long: &'static [u8] = vec![b'x'; LONGEST_LINE + 10].leak();
    assert!(matches!(&all(long).await[..], [Heard::Wrong(why)] if why.contains("1048576")));
}
