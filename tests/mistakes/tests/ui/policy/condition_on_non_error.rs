use superstep::policy::Retry;

fn main() {
    let _ = Retry::attempts(3).when(|status: &u16| *status == 503);
}
