//! The memory of a process and of the processes that it has started, where the system tells it.

use std::fs;

/// Returns the resident memory in KiB.
pub(crate) fn resident(pid: u64) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let own: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(own + children(pid).into_iter().filter_map(resident).sum::<u64>())
}

fn children(pid: u64) -> Vec<u64> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).ok();
    let lists: Vec<String> = tasks.filter_map(of_task).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}
