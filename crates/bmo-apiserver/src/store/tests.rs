use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::memory::MemoryStorage;
use super::redb::RedbStorage;
use super::*;

#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    /// A put that expects a version that is not there.
    Stale(u8),
    Delete(u8),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..6_u8, any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
        1 => (0..6_u8).prop_map(Step::Stale),
        2 => (0..6_u8).prop_map(Step::Delete),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

fn key(key: u8) -> String {
    format!("g/things/ns/{key}")
}

async fn run(store: &Store, step: &Step, model: &mut BTreeMap<String, (u64, u8)>, rev: &mut u64) {
    let (key, put, stale) = match step {
        Step::Put(k, value) => (key(*k), Put::Set(json!({"value": value})), false),
        Step::Stale(k) => (key(*k), Put::Set(json!({"value": 0})), true),
        Step::Delete(k) => (key(*k), Put::Delete(json!({})), false),
        Step::Reopen => return,
    };
    let expect = match model.get(&key) {
        _ if stale => Expect::Rev(999_999),
        Some((rev, _)) => Expect::Rev(*rev),
        None => Expect::Absent,
    };
    if matches!(step, Step::Delete(_)) && !model.contains_key(&key) {
        return;
    }
    let result = store
        .write(Write {
            key: key.clone(),
            expect,
            put,
        })
        .await;
    if stale {
        assert!(matches!(result, Err(WriteError::Conflict)));
        return;
    }
    *rev += 1;
    assert_eq!(result.unwrap().rev, *rev);
    match step {
        Step::Put(_, value) => model.insert(key, (*rev, *value)),
        _ => model.remove(&key),
    };
}

fn check_same(store: &Store, model: &BTreeMap<String, (u64, u8)>, rev: u64) {
    let snapshot = store.list("g/things/");
    assert_eq!(store.rev(), rev);
    let found: BTreeMap<String, (u64, u8)> = snapshot
        .objects
        .iter()
        .map(|object| {
            let value = u8::try_from(object.value["value"].as_u64().unwrap()).unwrap();
            assert_eq!(
                object.value["metadata"]["resourceVersion"],
                object.rev.to_string()
            );
            (object.key.clone(), (object.rev, value))
        })
        .collect();
    assert_eq!(&found, model);
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_file_store_is_a_map_that_survives_reopening(steps in steps()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.redb");
        block_on(async {
            let open = || Store::open(Box::new(RedbStorage::open(&path).unwrap()), 16).unwrap();
            let (mut store, mut model, mut rev) = (open(), BTreeMap::new(), 1);
            for step in &steps {
                if matches!(step, Step::Reopen) {
                    store.close().await;
                    store = open();
                }
                run(&store, step, &mut model, &mut rev).await;
            }
            check_same(&store, &model, rev);
            store.close().await;
            check_same(&open(), &model, rev);
        });
    }

    #[test]
    fn past_revisions_read_as_they_were(steps in steps()) {
        block_on(async {
            let store = Store::in_memory(1000);
            let (mut model, mut rev) = (BTreeMap::new(), 1);
            let mut past = Vec::new();
            for step in &steps {
                run(&store, step, &mut model, &mut rev).await;
                past.push((rev, model.clone()));
            }
            for (rev, model) in past {
                let then = store.list_at("g/things/", rev).unwrap();
                let found: Vec<u64> = then.objects.iter().map(|object| object.rev).collect();
                let wanted: Vec<u64> = model.values().map(|(rev, _)| *rev).collect();
                prop_assert_eq!(found, wanted, "at {}", rev);
            }
            Ok(())
        })?;
    }

    #[test]
    fn compaction_changes_no_later_view(steps in steps(), cut in 0..60_u64) {
        let directory = tempfile::tempdir().unwrap();
        let mut file = RedbStorage::open(&directory.path().join("data.redb")).unwrap();
        let mut memory = MemoryStorage::default();
        let mut live: BTreeMap<String, u64> = BTreeMap::new();
        let mut rev = 0;
        for step in &steps {
            let (key, deleted) = match step {
                Step::Put(k, _) => (key(*k), false),
                Step::Delete(k) if live.contains_key(&key(*k)) => (key(*k), true),
                _ => continue,
            };
            rev += 1;
            if deleted { live.remove(&key); } else { live.insert(key.clone(), rev); }
            let record = Record { rev, key, object: rev.to_string().into_bytes().into(), deleted };
            file.txn(std::slice::from_ref(&record)).unwrap();
            memory.txn(&[record]).unwrap();
        }
        let cut = cut.min(rev);
        file.compact(cut).unwrap();
        memory.compact(cut).unwrap();
        for at in cut..=rev {
            prop_assert_eq!(file.range("", at).unwrap(), memory.range("", at).unwrap());
        }
        prop_assert_eq!(file.since(cut).unwrap(), memory.since(cut).unwrap());
        let found: Vec<u64> = file.range("", rev).unwrap().iter().map(|record| record.rev).collect();
        let wanted: Vec<u64> = live.values().copied().collect();
        prop_assert_eq!(found, wanted);
    }
}

#[tokio::test]
async fn a_second_opening_is_refused_with_advice() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data.redb");
    let _open = RedbStorage::open(&path).unwrap();
    let error = RedbStorage::open(&path).unwrap_err().to_string();
    assert!(error.contains("in use by another process"), "{error}");
}

#[tokio::test]
async fn who_is_behind_the_ring_is_told() {
    let store = Store::in_memory(2);
    for n in 0..4_u8 {
        let put = Put::Set(json!({"n": n}));
        store
            .write(Write {
                key: key(n),
                expect: Expect::Absent,
                put,
            })
            .await
            .unwrap();
    }
    assert_eq!(store.changes("", 2).unwrap_err(), TooOld { asked: 2, oldest: 3 });
    assert_eq!(store.changes("", 3).unwrap().1.len(), 2);
}

#[tokio::test]
async fn many_writers_at_once_share_transactions_and_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data.redb");
    let store = Arc::new(Store::open(Box::new(RedbStorage::open(&path).unwrap()), 4096).unwrap());
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..100_u8 {
        let store = store.clone();
        tasks.spawn(async move {
            let write = Write {
                key: key(n),
                expect: Expect::Absent,
                put: Put::Set(json!({"value": n})),
            };
            store.write(write).await.unwrap().rev
        });
    }
    let mut revs: Vec<u64> = tasks.join_all().await;
    revs.sort_unstable();
    assert_eq!(revs, (2..102).collect::<Vec<u64>>());
    store.close().await;
    let again = Store::open(Box::new(RedbStorage::open(&path).unwrap()), 4096).unwrap();
    assert_eq!(again.list("").objects.len(), 100);
}
