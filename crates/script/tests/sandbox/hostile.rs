//! Scripts that try to get out, to stay or to take everything. Each ends in time, with a value or
//! an error, and the next script runs as if nothing had been.

use std::time::{Duration, Instant};

use mcpgraph_script::{Limits, Sandbox};

use crate::{json, run_with, tight};

/// What each tries, and the text. None may take longer than its time limit and a little.
const CORPUS: &[(&str, &str)] = &[
    // Ways to the host by constructors and prototypes.
    (
        "process by the context",
        "return String(context.constructor.constructor('return typeof process')())",
    ),
    (
        "process by an error",
        "try { null.x } catch (e) { return e.constructor.constructor('return typeof require')() }",
    ),
    (
        "process by a host function",
        "return sleep.constructor('return typeof process + typeof require')()",
    ),
    ("process by the console", "return console.log.constructor('return this')() === globalThis"),
    ("arguments.callee", "return (function () { return arguments.callee.caller })()"),
    ("the promise of the host", "return (await sleep(1).constructor.resolve(1)) + 1"),
    ("async function constructor", "return (async () => {}).constructor('return typeof Deno')()"),
    ("generator constructor", "return (function* () {}).constructor('yield 1')().next().value"),
    ("indirect eval", "return (0, eval)('typeof process')"),
    ("the global prototype", "Object.prototype.polluted = 1; Array.prototype.map = null; return 1"),
    (
        "then on every object",
        "Object.defineProperty(Object.prototype, 'then', { get() { sleep(1); return undefined } }); const r = await fetch('https://example.test/echo'); return r.status",
    ),
    (
        "toJSON on every object",
        "Object.prototype.toJSON = function () { return 'pwned' }; return { a: 1 }",
    ),
    ("JSON replaced", "JSON.stringify = () => { throw 1 }; JSON.parse = null; return { a: 1 }"),
    ("Promise replaced", "Promise.prototype.then = () => { while (true) {} }; return 1"),
    ("Promise species", "globalThis.Promise = null; await null; return 1"),
    ("proto of the result", "return JSON.parse('{\"__proto__\": {\"x\": 1}}')"),
    ("dynamic import", "return await import('fs')"),
    (
        "globals deleted",
        "for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch {} } return 1",
    ),
    ("globals frozen", "Object.freeze(globalThis); Object.freeze(Object.prototype); return 1"),
    (
        "proxy everywhere",
        "const trap = { get: (t, k, r) => r, has: () => true, ownKeys: () => ['a'] }; return Object.keys(new Proxy({}, trap))",
    ),
    (
        "proxy as result",
        "return new Proxy({}, { get() { while (true) {} }, ownKeys() { while (true) {} } })",
    ),
    ("symbols of the host", "return Object.getOwnPropertySymbols(sleep).length"),
    // Getters and traps on the result.
    ("a getter that never returns", "return { get a() { while (true) {} } }"),
    ("a getter that throws", "return { get a() { throw new Error('got') } }"),
    (
        "a getter that grows",
        "return { get a() { const x = []; for (;;) x.push('x'.repeat(1000)) } }",
    ),
    ("toJSON for ever", "return { toJSON() { return { toJSON: this.toJSON } } }"),
    ("toJSON deep", "const make = () => ({ get next() { return make() } }); return make()"),
    ("a circle", "const a = []; a.push(a); return a"),
    (
        "an error with traps",
        "throw { get message() { while (true) {} }, get stack() { while (true) {} } }",
    ),
    (
        "an error with a name",
        "const e = new Error('x'); Object.defineProperty(e, 'name', { get() { while (true) {} } }); throw e",
    ),
    ("toString of a thrown thing", "throw { toString() { while (true) {} } }"),
    ("the console and traps", "console.log({ toJSON() { while (true) {} } })"),
    ("the console and itself", "console.log({ get a() { console.log({ a: 1 }); return 1 } })"),
    // Loops.
    ("while", "while (true) {}"),
    ("while after await", "await null; while (true) {}"),
    ("while after sleep", "await sleep(1); while (true) {}"),
    ("in finally", "try { while (true) {} } finally { while (true) {} }"),
    ("in catch", "for (;;) { try { while (true) {} } catch { continue } }"),
    ("in a callback", "[3, 2, 1].sort(() => { while (true) {} })"),
    ("in a generator", "for (const x of (function* () { for (;;) yield 1 })()) {}"),
    ("in a getter", "({ get x() { while (true) {} } }).x"),
    ("in a replacer", "'x'.replace(/x/, () => { while (true) {} })"),
    ("in valueOf", "return +{ valueOf() { while (true) {} } }"),
    ("in an async loop", "for (;;) await null"),
    (
        "in then",
        "await new Promise((resolve) => { const f = () => Promise.resolve().then(f); f() })",
    ),
    (
        "microtask bomb",
        "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})",
    ),
    (
        "microtask bomb after the end",
        "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); return 1",
    ),
    ("thenable for ever", "const t = { then(r) { r(t) } }; await t"),
    ("async recursion", "const f = async () => { await f() }; await f()"),
    ("never resolved", "await new Promise(() => {})"),
    ("rejected and nobody cares", "for (let i = 0; i < 1000; i++) Promise.reject(i); return 1"),
    ("sleep for ever", "await sleep(1e308)"),
    (
        "sleep for less than nothing",
        "await sleep(-1e308); await sleep(NaN); await sleep('x'); return 1",
    ),
    (
        "many short timers",
        "for (;;) { await Promise.all(Array.from({ length: 100 }, () => sleep(0))) }",
    ),
    (
        "timers that start timers",
        "const f = () => sleep(0).then(f); await Promise.all([f(), f(), f()])",
    ),
    ("Atomics.wait", "const a = new Int32Array(new SharedArrayBuffer(4)); Atomics.wait(a, 0, 0)"),
    // Memory.
    ("strings", "let s = 'x'; for (;;) s += s"),
    ("repeat", "return 'x'.repeat(2 ** 30 - 1)"),
    ("padStart", "return 'x'.padStart(2 ** 29)"),
    ("arrays", "const a = []; for (;;) a.push(new Array(1000).fill(0))"),
    ("a sparse array", "const a = []; a[2 ** 32 - 2] = 1; return a.length"),
    ("array fill", "new Array(2 ** 31).fill(1)"),
    ("array join", "return new Array(2 ** 27).join('xxxxxxxx')"),
    ("objects", "const a = {}; for (let i = 0; ; i++) a['k' + i] = {}"),
    ("closures", "let f = () => 1; for (;;) { const g = f; f = () => g }"),
    ("typed arrays", "const a = []; for (;;) a.push(new Uint8Array(1 << 20))"),
    ("one typed array", "return new Float64Array(2 ** 28).length"),
    ("ArrayBuffer", "return new ArrayBuffer(2 ** 40).byteLength"),
    ("maps", "const m = new Map(); for (let i = 0; ; i++) m.set(i, 'x'.repeat(100))"),
    ("bigints", "let x = 2n; for (;;) x = x * x"),
    ("bigint power", "return String(2n ** (2n ** 30n)).length"),
    (
        "out of memory, caught",
        "for (;;) { try { const a = []; for (;;) a.push('x'.repeat(100)) } catch {} }",
    ),
    ("spread", "return Math.max(...new Array(1e8))"),
    ("apply", "return String.fromCharCode.apply(null, new Array(1e7))"),
    ("JSON in", "return JSON.parse('['.repeat(1e6))"),
    ("JSON out", "let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a"),
    ("JSON space", "return JSON.stringify(new Array(1e6).fill([]), null, 10).length"),
    ("console flood", "for (;;) console.log('x'.repeat(1e6))"),
    ("promises", "const a = []; for (;;) a.push(new Promise(() => {}))"),
    ("symbols", "const a = []; for (;;) a.push(Symbol('x'.repeat(100)))"),
    ("template strings", "let s = 'x'; for (;;) s = `${s}${s}`"),
    ("an error's message", "throw new Error('x'.repeat(1e7))"),
    // Stack.
    ("recursion", "const f = () => f() + 1; f()"),
    ("recursion, caught", "const f = () => { try { f() } catch { f() } }; f()"),
    ("recursion in getters", "const a = { get x() { return this.x } }; a.x"),
    ("recursion in toString", "const a = { toString() { return '' + a } }; return '' + a"),
    ("recursion in a proxy", "const p = new Proxy({}, { get: (t, k) => p[k] }); p.x"),
    ("recursion in sort", "const f = () => [1, 2].sort(f); f()"),
    ("recursion in replace", "const f = () => 'x'.replace('x', f); f()"),
    ("bound for ever", "let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(null); f()"),
    ("prototype chain", "let o = {}; for (let i = 0; i < 1e6; i++) o = Object.create(o); o.x"),
    ("flat", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity)"),
    ("nested literals", "return eval('['.repeat(1e5) + ']'.repeat(1e5))"),
    ("nested parentheses", "return eval('('.repeat(1e5) + '1' + ')'.repeat(1e5))"),
    ("nested functions", "return eval('(()=>'.repeat(1e4) + '1' + ')'.repeat(1e4))"),
    ("nested templates", "return eval('`${'.repeat(1e4) + '1' + '}`'.repeat(1e4))"),
    ("nested unary", "return eval('!'.repeat(1e6) + '1')"),
    ("a long sum", "return eval(new Array(2e5).fill('1').join('+'))"),
    (
        "structured deep copies",
        "let a = {}; for (let i = 0; i < 1e5; i++) a = { a }; return JSON.stringify(a)",
    ),
    // Regular expressions.
    ("catastrophic", "return /^(a+)+$/.test('a'.repeat(50) + 'b')"),
    ("nested quantifiers", "return /((((a*)*)*)*)*b/.test('a'.repeat(40))"),
    ("backreferences", "return /(a*)*\\1b/.test('a'.repeat(50))"),
    ("lookbehind", "return /(?<=(a+)+)b/.test('a'.repeat(50) + 'c')"),
    ("huge regex", "return new RegExp('a'.repeat(1e7)).test('a')"),
    ("huge class", "return new RegExp('[' + 'a-z'.repeat(1e6) + ']').test('a')"),
    ("nested groups", "return new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('')"),
    ("huge repetition", "return new RegExp('(?:a{1000}){1000}').test('a'.repeat(1e6))"),
    ("replaceAll", "return 'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1000)).length"),
    ("split", "return 'a'.repeat(1e7).split('').length"),
    ("normalize", "return '\\u{1100}'.repeat(1e6).normalize('NFD').length"),
    ("case", "return '\\u0130'.repeat(1e6).toLowerCase().length"),
    // Things that look like something else.
    (
        "getServerInfo of something",
        "return [getServerInfo({ toString() { return 'files' } }), getServerInfo('__proto__')]",
    ),
    ("getServerInfo with a trap", "return getServerInfo({ toString() { while (true) {} } })"),
    ("fetch with traps", "await fetch({ toString() { throw new Error('url') } })"),
    (
        "fetch with endless headers",
        "await fetch('https://example.test/echo', { headers: new Proxy({}, { ownKeys: () => Array.from({ length: 1e5 }, (_, i) => 'h' + i), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: () => 'x' }) })",
    ),
    (
        "fetch with a getter",
        "await fetch('https://example.test/echo', { get method() { while (true) {} } })",
    ),
    ("lone surrogates", "return '\\ud800'"),
    ("a NUL", "return 'a\\u0000b'"),
    ("numbers JSON has not", "return [NaN, Infinity, -0]"),
    ("a huge date", "return new Date(8.64e15 + 1)"),
    ("with", "return Function('with ({ a: 1 }) return a')()"),
    (
        "an interrupted finally",
        "try { for (;;) await sleep(10) } finally { for (;;) await sleep(10) }",
    ),
    ("async generator", "async function* g() { for (;;) yield 1 } for await (const x of g()) {}"),
    (
        "iterator that never ends",
        "return Array.from({ [Symbol.iterator]() { return { next: () => ({ done: false }) } } })",
    ),
    ("huge array length", "const a = []; a.length = 2 ** 32 - 1; return a.indexOf(1)"),
    ("array of holes", "return new Array(2 ** 32 - 1)"),
    (
        "sort without order",
        "return new Array(1e6).fill(0).map(Math.random).sort(() => Math.random() - 0.5).length",
    ),
    (
        "string concat in a loop",
        "let s = ''; for (let i = 0; i < 1e8; i++) s += i; return s.length",
    ),
];

#[tokio::test]
async fn every_script_is_contained() {
    let sandbox = Sandbox::default();
    for (what, script) in CORPUS {
        let began = Instant::now();
        let report = run_with(&sandbox, script, tight()).await;
        let took = began.elapsed();
        assert!(took < tight().time + Duration::from_millis(1500), "{what} took {took:?}");
        // Whatever it did, the next one finds a clean world.
        let next = run_with(
            &sandbox,
            "return [Object.keys(Object.prototype).length, typeof [].map, context.request.params.n]",
            Limits::default(),
        )
        .await;
        let found = next.outcome.map(|value| value.unwrap().to_json());
        assert_eq!(found, Ok(String::from(r#"[0,"function",20]"#)), "after {what}");
        drop(report);
    }
}

#[tokio::test]
async fn the_host_is_out_of_reach() {
    let names = "return ['process', 'require', 'module', 'global', 'Deno', 'std', 'os', 'bjson', \
                 'print', 'load', 'scriptArgs', 'setTimeout', 'setInterval', \
                 'XMLHttpRequest', 'WebSocket', 'Worker', 'navigator', 'performance', 'gc'] \
                 .filter((name) => typeof globalThis[name] !== 'undefined')";
    assert_eq!(json(names).await, "[]");
    for escape in [
        "return typeof context.constructor.constructor('return process')",
        "return context.constructor.constructor('return typeof process')()",
    ] {
        let found = json(escape).await;
        assert!(["\"function\"", "\"undefined\""].contains(&&*found), "{found}");
    }
    let own = "return Object.getOwnPropertyNames(globalThis).filter((name) => \
               ['console', 'sleep', 'fetch', 'getServerInfo', 'context'].includes(name)).sort()";
    assert_eq!(json(own).await, r#"["console","fetch","getServerInfo","sleep"]"#);
}
