//! Fields of a checkpoint: whole values and deltas along its ancestors.

use superstep_store::checkpoint::CheckpointId;

use crate::Broken;
use crate::case::Target;
use crate::expect::{holds, same};
use crate::writer::Writer;

pub(crate) async fn deltas_follow_the_last_whole_value(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let steps = [
        ("list+a", "list+a"),
        ("list+b n=1", "list+a list+b n=1"),
        ("", "list+a list+b n=1"),
        ("list=c", "list=c n=1"),
        ("list+d", "list=c list+d n=1"),
        ("n=2", "list=c list+d n=2"),
        ("list+e n+1", "list=c list+d list+e n=2 n+1"),
        ("list=f list=g", "list=g n=2 n+1"),
    ];
    let mut ids = Vec::new();
    for (writes, reads) in steps {
        let id = writer.add(writes).await?;
        writer.expect_fields(id, reads, "a read returns the last whole value and later deltas").await?;
        ids.push((id, reads));
    }
    for (id, reads) in ids {
        writer.expect_fields(id, reads, "later writes do not change an old checkpoint").await?;
    }
    Ok(())
}

pub(crate) async fn changes_of_one_checkpoint_keep_their_order(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let steps = [
        ("a+1 b+x a+2 a+1 b+y", "a+1 a+2 a+1 b+x b+y"),
        ("a+3 a=4 a+5 b+z a=6 a+7 a+8", "a=6 a+7 a+8 b+x b+y b+z"),
        ("a+9 a+9 a+9", "a=6 a+7 a+8 a+9 a+9 a+9 b+x b+y b+z"),
        ("b=0 a=0", "a=0 b=0"),
    ];
    for (writes, reads) in steps {
        let id = writer.add(writes).await?;
        writer
            .expect_fields(id, reads, "several changes of a field in one checkpoint keep their order")
            .await?;
    }
    Ok(())
}

pub(crate) async fn change_names_the_checkpoint_that_wrote_it(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1 b+1").await?;
    let second = writer.add("b+2 b+3").await?;
    let third = writer.add("b+4").await?;
    let mut found: Vec<(String, Vec<CheckpointId>)> = Vec::new();
    for field in writer.read(third).await?.fields {
        found.push((field.field, field.changes.iter().map(|change| change.checkpoint).collect()));
    }
    found.sort();
    let expected = vec![("a".to_owned(), vec![first]), ("b".to_owned(), vec![first, second, second, third])];
    same("a change names the checkpoint that wrote it", expected, found)
}

pub(crate) async fn field_written_long_ago_is_still_read(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("old=1 once+a").await?;
    let mut last = None;
    for n in 0..300 {
        last = Some(writer.add(&format!("n={n}")).await?);
    }
    match last {
        Some(id) => {
            writer
                .expect_fields(id, "n=299 old=1 once+a", "a field that is not written again is still read")
                .await
        }
        None => Ok(()),
    }
}

pub(crate) async fn every_checkpoint_of_a_long_branch_reads_unchanged(
    target: Target<'_>,
) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    // Long enough for stores that compact small changes, with values of different lengths and some overwrites.
    let mut checkpoints = Vec::new();
    let mut list: Vec<String> = Vec::new();
    for n in 0..400 {
        let value = format!("{n}{}", "x".repeat(n * 7 % 50));
        if n % 150 == 149 {
            list.clear();
            list.push(format!("list={value}"));
        } else {
            list.push(format!("list+{value}"));
        }
        let writes = list.last().cloned().unwrap_or_default();
        let id = writer.add(&writes).await?;
        checkpoints.push((id, list.join(" ")));
    }
    for (id, reads) in &checkpoints {
        writer.expect_fields(*id, reads, "every checkpoint of a long branch reads unchanged").await?;
    }
    Ok(())
}

pub(crate) async fn thousand_deltas_are_read_in_order(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut reads = String::new();
    for part in 0..100 {
        let writes: Vec<_> = (0..10).map(|n| format!("list+{}", part * 10 + n)).collect();
        let writes = writes.join(" ");
        writer.add(&writes).await?;
        reads = if reads.is_empty() { writes } else { format!("{reads} {writes}") };
    }
    match writer.fence.head {
        Some(head) => writer.expect_fields(head, &reads, "a thousand deltas are read in order").await,
        None => Ok(()),
    }
}

pub(crate) async fn many_fields_stay_separate(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let all_fields = |from: usize| (from..200).map(|n| format!("f{n:03}={n}")).collect::<Vec<_>>().join(" ");
    writer.add(&all_fields(0)).await?;
    let id = writer.add("f007=x f100+y").await?;
    let reads = all_fields(0).replace("f007=7", "f007=x").replace("f100=100", "f100=100 f100+y");
    writer.expect_fields(id, &reads, "each of two hundred fields is read once with its own changes").await
}

pub(crate) async fn branches_do_not_see_each_other(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let root = writer.add("list+r n=0").await?;
    let left = writer.add("list+l").await?;
    let right = writer.fork(Some(root), "list+x n=1").await?;
    // The branches grow in turn, including the one without the head.
    let right2 = writer.fork(Some(right), "list+y").await?;
    let left2 = writer.fork(Some(left), "list+m n+1").await?;
    let left3 = writer.fork(Some(left2), "list=z").await?;
    let right3 = writer.fork(Some(right2), "n+5").await?;
    let middle = writer.fork(Some(left2), "list+q").await?;
    let expected = [
        (root, "list+r n=0"),
        (left, "list+r list+l n=0"),
        (right, "list+r list+x n=1"),
        (right2, "list+r list+x list+y n=1"),
        (left2, "list+r list+l list+m n=0 n+1"),
        (left3, "list=z n=0 n+1"),
        (right3, "list+r list+x list+y n=1 n+5"),
        (middle, "list+r list+l list+m list+q n=0 n+1"),
    ];
    for (id, reads) in expected {
        writer.expect_fields(id, reads, "a branch sees its ancestors and not its siblings").await?;
    }
    Ok(())
}

pub(crate) async fn child_of_an_old_checkpoint_starts_a_branch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut branch = Vec::new();
    for n in 0..100 {
        branch.push(writer.add(&format!("list+{n}")).await?);
    }
    let upto = |n: usize| (0..=n).map(|n| format!("list+{n}")).collect::<Vec<_>>().join(" ");
    for at in [0, 1, 50, 62, 63, 64, 65, 98, 99] {
        let parent = branch.get(at).copied();
        let update = writer.fork(parent, "list+u").await?;
        let overwrite = writer.fork(parent, "list=o other+1").await?;
        let after = writer.fork(Some(update), "list+v").await?;
        writer
            .expect_fields(
                update,
                &format!("{} list+u", upto(at)),
                "a branch may start at any old checkpoint",
            )
            .await?;
        writer.expect_fields(after, &format!("{} list+u list+v", upto(at)), "a branch continues").await?;
        writer.expect_fields(overwrite, "list=o other+1", "a branch may overwrite a field").await?;
    }
    for (n, id) in branch.iter().enumerate() {
        writer.expect_fields(*id, &upto(n), "a branch does not change its parent branch").await?;
    }
    Ok(())
}

pub(crate) async fn checkpoint_without_parent_sees_no_earlier_values(
    target: Target<'_>,
) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let first = writer.add("a=1 list+1").await?;
    let second = writer.fork(None, "list+2").await?;
    let third = writer.fork(Some(second), "list+3").await?;
    writer.expect_fields(second, "list+2", "a checkpoint without a parent sees no earlier values").await?;
    writer.expect_fields(third, "list+2 list+3", "its children see no earlier values").await?;
    writer.expect_fields(first, "a=1 list+1", "the first branch is unchanged").await
}

pub(crate) async fn nested_branches_read_through_their_ancestors(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut parent = writer.add("base=0 list+0").await?;
    let mut reads = "list+0".to_owned();
    let mut all = Vec::new();
    for depth in 1..=60 {
        // The sibling comes first, so that each checkpoint starts a branch.
        writer.fork(Some(parent), "list=wrong base=wrong").await?;
        parent = writer.fork(Some(parent), &format!("list+{depth}")).await?;
        reads = format!("{reads} list+{depth}");
        all.push((parent, format!("base=0 {reads}")));
    }
    for (id, reads) in all {
        writer.expect_fields(id, &reads, "a nested branch sees all of its ancestors").await?;
    }
    Ok(())
}

pub(crate) async fn checkpoint_without_changes_sees_all_fields(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let empty = writer.add("").await?;
    holds("a first checkpoint may have no fields", writer.read(empty).await?.fields.is_empty(), empty)?;
    let root = writer.add("a=1").await?;
    for _ in 0..5 {
        writer.add("").await?;
    }
    let fork = writer.fork(Some(root), "").await?;
    let after = writer.add("b+1").await?;
    writer.expect_fields(fork, "a=1", "a branch without changes sees the fields of its parent").await?;
    writer.expect_fields(after, "a=1 b+1", "its child sees them too").await?;
    holds(
        "a first checkpoint without fields keeps having none",
        writer.read(empty).await?.fields.is_empty(),
        empty,
    )
}
