use super::*;

#[test]
fn every_route_is_described_once() {
    for route in ROUTES {
        assert!(described(route).is_some(), "{} {}", route.method, route.path);
    }
    let all = [assistants::ROUTES, threads::ROUTES, runs::ROUTES, store::ROUTES, protocols::ROUTES];
    assert_eq!(all.into_iter().flatten().count(), ROUTES.len());
}
