//! What is kept of runs, and for how long.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_durable::{DurableError, Ended, Message, Repeat, Steps, Stopped, step};
use mcpgraph_journal::RunId;
use mcpgraph_testkit::postgres::ask;
use mcpgraph_value::Value;

use crate::process::{Count, Home};

/// What every table says that DBOS keeps for runs.
const TABLES: [&str; 3] = ["workflow_status", "operation_outputs", "notifications"];

/// Everything that is kept, as whoever reads the file or the tables sees it.
fn everything(home: &Home) -> String {
    match home {
        Home::Memory => String::new(),
        Home::Folder(folder) => std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .collect(),
        Home::Database(server) => TABLES
            .map(|table| {
                let sql = format!("SELECT string_agg(t::text, ' ') FROM mcpgraph_dbos.{table} t");
                ask(&server.url(), &sql)
            })
            .concat(),
    }
}

async fn told(steps: Arc<dyn Steps>, kept: Count) -> Result<Value, Stopped> {
    let place = steps.place("call");
    let body = || async { Value::from("step secret") };
    let outcome = step(&*steps, &place, Repeat::Never, body, || Value::Null).await?;
    let place = steps.place("receive");
    let until = SystemTime::now() + Duration::from_mins(10);
    let message = steps.receive(&place, "answer", until).await?.unwrap_or_default();
    kept.add();
    let place = steps.place("last");
    let last = steps.receive(&place, "end", until).await?.unwrap_or_default();
    Ok(Value::array(vec![outcome, message, last]))
}

#[test]
fn nobody_reads_in_clear_what_is_kept() {
    for home in Home::lasting() {
        let received = Count::default();
        let process = home.start({
            let received = received.clone();
            move |_, steps| told(steps, received.clone())
        });
        let run = process.begin("input secret");
        let send = |topic: &str, value: &str| {
            let (topic, key) = (topic.to_owned(), "a".to_owned());
            let message = Message { topic, key, value: value.into() };
            assert!(process.run(process.engine.send(run, message)).unwrap());
        };
        send("answer", "message secret");
        process.until(|| received.get() == 1);
        let kept = everything(&home);
        assert!(kept.contains("receive") || kept.contains("answer"), "nothing is kept: {kept}");
        assert!(!kept.contains("secret"), "{kept}");
        send("end", "last secret");
        let outcome = r#"["step secret","message secret","last secret"]"#;
        assert_eq!(process.value_of(run).to_json(), outcome);
        assert!(!everything(&home).contains("secret"));
        process.kill();
    }
}

/// What was kept for one run says nothing to another.
#[test]
fn what_is_kept_counts_only_where_it_was_kept() {
    for home in Home::lasting() {
        let Home::Database(server) = &home else { continue };
        let process = home.start(|input, _| async move { Ok(input) });
        let runs = ["one", "two"].map(|input| {
            let run = process.begin(input);
            assert_eq!(process.value_of(run), Value::from(input));
            run
        });
        let sql = format!(
            "UPDATE mcpgraph_dbos.workflow_status SET output = (SELECT output
             FROM mcpgraph_dbos.workflow_status WHERE workflow_uuid = '{}')
             WHERE workflow_uuid = '{}'",
            runs[0], runs[1]
        );
        ask(&server.url(), &sql);
        assert_eq!(process.value_of(runs[0]), Value::from("one"));
        let looked = process.run(process.engine.look(runs[1]));
        assert_eq!(looked, Err(DurableError::Unknown(runs[1])));
        process.kill();
    }
}

/// DBOS's rows go when the record of their run is gone, and not before.
#[test]
fn a_run_without_a_record_is_forgotten_once_it_has_ended() {
    for home in Home::lasting() {
        let Home::Database(server) = &home else { continue };
        let url = server.url();
        let process = home.start(|input, steps: Arc<dyn Steps>| async move {
            if input == Value::from("stays") {
                let place = steps.place("receive");
                let until = SystemTime::now() + Duration::from_mins(10);
                steps.receive(&place, "answer", until).await?;
            }
            crate::process::counted(&steps, "a", &Count::default()).await
        });
        let [gone, late, recorded] = [(); 3].map(|()| {
            let run = process.begin("ends");
            process.value_of(run);
            run
        });
        let cancelled = process.begin("stays");
        process.run(process.engine.cancel(cancelled)).unwrap();
        assert_eq!(process.run(process.engine.outcome(cancelled)).unwrap(), Ended::Cancelled);
        let running = process.begin("stays");
        // A record, as the store of runs has one.
        let sql = format!(
            "INSERT INTO mcpgraph.runs (no, id, change, started, duration, status, steps, events,
                 lost, tool, digest, face)
             VALUES (1, decode('{}', 'hex'), 1, extract(epoch FROM now()) * 1000000, 0,
                 'completed', 0, 0, 0, 't', '\\x00', 'cli')",
            recorded.to_string().replace('-', "")
        );
        ask(&url, &sql);
        let age = |run: RunId| {
            let sql = format!(
                "UPDATE mcpgraph_dbos.workflow_status SET completed_at = completed_at - 700000
                 WHERE workflow_uuid = '{run}'"
            );
            ask(&url, &sql);
        };
        [gone, cancelled, running, recorded].into_iter().for_each(age);
        process.kill();
        // Whoever starts tidies up.
        let process = home.start(|input, _| async move { Ok(input) });
        process.until(|| {
            let sql = "SELECT count(*) FROM mcpgraph_dbos.workflow_status";
            ask(&url, sql) == "3"
        });
        let left = |run: RunId| {
            let sql = format!(
                "SELECT count(*) FROM mcpgraph_dbos.workflow_status WHERE workflow_uuid = '{run}'"
            );
            ask(&url, &sql)
        };
        assert_eq!([gone, cancelled, late, running, recorded].map(left), ["0", "0", "1", "1", "1"]);
        let sql = format!(
            "SELECT count(*) FROM mcpgraph_dbos.operation_outputs WHERE workflow_uuid = '{gone}'"
        );
        assert_eq!(ask(&url, &sql), "0");
        process.kill();
    }
}
