"""The half that the rules were not fitted to line by line.

One author wrote turns, labels and rules, and ran this half more than once, so it is no blind test.
"""

# ruff: noqa: E501 - turns stand as they were said
from tests.domain.turns import Turn

HELD_OUT: tuple[Turn, ...] = (
    Turn(
        "How do I stop ruff from complaining about asserts in tests only?",
        """Ignore the rule per file in `pyproject.toml`:

```toml
[tool.ruff.lint.per-file-ignores]
"tests/**" = ["S101"]
```

The pattern is relative to the file that holds it. A `# noqa: S101` on the line also works but has to be repeated. If you
run ruff through pre-commit with explicit paths, keep `force-exclude = true`, or excludes are not applied.""",
    ),
    Turn(
        "Why does `pip install -e .` fail with 'build backend returned an error' in our offline CI?",
        """An editable install builds in an isolated environment and tries to download the build backend.

1. Put the backend (`hatchling`, `editables`) into the locked requirements.
2. Install with `pip install --no-build-isolation --no-index --no-deps -e .`.

This only works if the versions in the lock satisfy `build-system.requires`; pip does not check that for you.""",
    ),
    Turn(
        "What is the right way to bound memory when reading a huge JSON lines file in Python?",
        """Iterate over the file object and parse each line; never call `read()` or `readlines()`.

- Open it in binary mode and pass bytes to `json.loads`, which skips one decoding step.
- Give `readline` a limit, because a file without newlines is one line.
- Batch the inserts, about 1,000 rows at a time, so that one transaction does not hold everything.

Compressed input works the same with `gzip.open`. A broken last line is normal after a crash: skip it and say so.""",
    ),
    Turn(
        "How do I find out which process holds a lock on a SQLite database?",
        """SQLite itself cannot tell you. On Linux, `fuser -v codexmem.db-wal` or `lsof codexmem.db` lists the processes that have
the file open; the one in a write transaction is usually the one with the growing WAL.

Set `PRAGMA busy_timeout = 5000` so that short waits never surface, and keep write transactions short. On network
file systems locks are unreliable, so don't share the file there.""",
    ),
    Turn(
        "Explain when PostgreSQL can use an index-only scan",
        """Three conditions must hold:

1. Every column the query touches is in the index (put payload columns into `INCLUDE`).
2. The index type supports it: B-tree always does, GIN never does.
3. The pages are marked all-visible, which VACUUM does. After heavy updates the scan falls back to the heap.

Check `Heap Fetches` in `EXPLAIN (ANALYZE)`: a high number means that you should vacuum more often.""",
    ),
    Turn(
        "React warns 'Cannot update a component while rendering a different component'. How do I get rid of it?",
        """A child calls the parent's setState while it renders. Move the call into an effect or an event:

```jsx
useEffect(() => { onChange(value) }, [value])
```

If the value can be computed, don't store it at all: derive it during rendering. The warning exists since React 16.13.
Calling your *own* setState during rendering is allowed when guarded by a condition; calling another component's is not.""",
    ),
    Turn(
        "How can I tell whether my terminal supports true colour?",
        """Check `COLORTERM`: `truecolor` or `24bit` means yes. It is not standardised, so treat a missing value as unknown rather
than no.

- Over SSH the variable is usually dropped; add `SendEnv COLORTERM`.
- Inside tmux set `terminal-features ',*:RGB'`.
- `NO_COLOR` should win over everything, and output that is not a terminal gets no colour.

macOS Terminal only supports 256 colours before version 26.""",
    ),
    Turn(
        "Should our HTTP client retry a POST that timed out?",
        """Only if the request is idempotent. A time-out says nothing about whether the server acted.

Send an `Idempotency-Key` made before the first attempt and reuse it for every retry; the server then answers the second
request with the first result. Retry on connection errors, 429 and 503 with exponential back-off and jitter, at most
three times, and honour `Retry-After`. Without such a key, report the uncertainty to the caller instead of retrying.""",
    ),
    Turn(
        "How do I write a pytest fixture that fails if a thread is left behind?",
        """Compare `threading.enumerate()` before and after the test:

```python
@pytest.fixture(autouse=True)
def no_threads_left():
    before = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in before and not t.daemon]
    assert not left, left
```

Give threads a moment to end (`join(1)`) before you assert. Executors keep idle workers until `shutdown()`, so close them
in the code under test.""",
    ),
    Turn(
        "What's the safest way to replace a configuration file atomically from a shell script?",
        """Write beside it, flush, then rename:

1. `tmp=$(mktemp "$target.XXXXXX")` in the same directory, so that the rename stays on one file system.
2. Write to `$tmp` and run `sync "$tmp"`.
3. `chmod --reference="$target" "$tmp"` to keep the mode.
4. `mv -f "$tmp" "$target"`.

Readers see the old or the new file, never half of one. If the target is a symbolic link, resolve it first with
`readlink -f`, or the link is replaced.""",
    ),
    Turn(
        "Why do Go programs leak goroutines when a context is cancelled, and how do we avoid it here?",
        """A goroutine that sends on an unbuffered channel blocks for ever once the receiver has returned.

- Select on `ctx.Done()` in every send: `select { case out <- v: case <-ctx.Done(): return }`.
- Or give the channel a buffer as large as the number of senders.
- Use `errgroup.WithContext`, which waits for all of them.

In tests, `goleak.VerifyTestMain` finds what is left. It cannot see goroutines that are blocked inside cgo.""",
    ),
    Turn(
        "Our Alembic autogenerate keeps detecting the same JSON column as changed. How do I stop that?",
        """The database reports another type than the model: PostgreSQL says `JSONB`, the model says `JSON`.

1. Use `sa.JSON().with_variant(postgresql.JSONB(), "postgresql")` in the model.
2. Set `compare_type=True` only after that, or it comes back.
3. For server defaults, `compare_server_default` needs the same literal text on both sides.

A custom `compare_type` callable that returns False for that column is the last resort.""",
    ),
    Turn(
        "如何在 Docker 镜像里以非 root 用户运行 Python 服务？",
        """在 Dockerfile 里创建用户并切换：

```dockerfile
RUN useradd --create-home --uid 10001 app
USER app
WORKDIR /app
```

1. 需要写入的目录先 `chown app`，挂载卷要在宿主机上给 10001 授权。
2. 小于 1024 的端口不能绑定，改用 8080 再由网关转发。

如果集群启用了 `runAsNonRoot`，必须写数字 UID，只写用户名会被拒绝。""",
    ),
    Turn(
        "为什么 Spring 的 @Transactional 在同一个类里互相调用时不生效？",
        """事务由代理实现，类内部的 `this.method()` 不经过代理，所以注解不起作用。

解决办法有三种：
- 把方法拆到另一个 Bean 里（推荐）。
- 注入自身的代理再调用。
- 使用 AspectJ 织入。

另外，默认只对 RuntimeException 回滚，受检异常要写 `rollbackFor = Exception.class`；private 方法永远不会生效。""",
    ),
    Turn(
        "怎样让 nginx 支持大文件上传而不报 413？",
        """413 来自 `client_max_body_size`，默认 1m：

1. 在对应的 `server` 或 `location` 中写 `client_max_body_size 200m;`。
2. 执行 `nginx -t && nginx -s reload`。
3. 后端若有自己的限制（如 Spring 的 `max-file-size`）也要一起调大。

注意：设为 0 表示不限制，会有被塞满磁盘的风险；同时应调大 `client_body_timeout`，慢速网络才不会中断。""",
    ),
    Turn(
        "Python 里怎么优雅地处理 SIGTERM，让正在执行的任务做完再退出？",
        """主线程只设标志，工作线程检查标志：

```python
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
while not stop.is_set():
    job = queue.claim(timeout=1)
```

信号处理函数里不要做耗时操作或加锁。容器默认等待 30 秒后发 SIGKILL，任务更长时要调大 `terminationGracePeriodSeconds`。
以 shell 作为 1 号进程时信号不会转发，记得用 `exec`。""",
    ),
    Turn(
        "前端打包后首屏很慢，应该从哪些方面入手优化？",
        """先量后改，按收益从大到小：

1. 用 `rollup-plugin-visualizer` 看体积，按路由拆分（动态 `import()`）。
2. 图片改 WebP/AVIF，首屏以外懒加载。
3. 开启 gzip 或 brotli，静态资源带哈希并长期缓存。
4. 字体用 `font-display: swap`，只打包用到的字形。

不要一开始就上服务端渲染，复杂度高；多数情况下拆包和图片已能解决。""",
    ),
    Turn(
        "数据库里的金额应该用什么类型存？",
        """不要用浮点数。两种做法：

- 以最小单位（分）存 BIGINT，计算最快，跨语言也一致。
- 用 `NUMERIC(18, 2)`，可读性好，但要统一舍入方式。

多币种时另存币种代码，且不同币种的小数位不同（日元为 0 位，科威特第纳尔为 3 位）。汇率换算保留 6 位以上，最后一步再舍入。""",
    ),
    Turn(
        "说明一下怎么给命令行工具加中英文两种语言的提示",
        """所有文字放在一个目录表里，命令只引用键：

1. 在 `messages_en.py` 和 `messages_zh.py` 各加一条相同的键。
2. 代码里用 `say("key", name=value)`，不要拼接句子，因为语序不同。
3. 测试会比较两张表的键和占位符，缺一条就失败。

语言由 `--lang`、环境变量、系统区域依次决定。日志保持英文，方便检索。""",
    ),
    Turn(
        "Go 的 map 并发读写为什么会 panic，怎么解决？",
        """map 不是并发安全的，运行时检测到同时读写会直接 `fatal error`，而且无法 recover。

- 读多写少用 `sync.RWMutex` 包一层。
- 键相对稳定、各协程操作不同键时用 `sync.Map`。
- 或者让一个协程独占 map，通过 channel 通信。

用 `go test -race` 可以提前发现；它会让程序慢 5 到 10 倍，只在测试中使用。""",
    ),
    Turn(
        "Elasticsearch 分页到一万条以后报错，如何处理？",
        """`from + size` 超过 `index.max_result_window`（默认 10000）会被拒绝，因为深分页很耗内存。

1. 连续翻页用 `search_after` 加一个稳定的排序字段，并配合 PIT。
2. 导出全部数据用 `scroll` 或切片 PIT。
3. 不建议调大窗口，协调节点会有内存风险。

`search_after` 不能跳页；产品上确实需要跳页时，限制在前 100 页即可。""",
    ),
    Turn(
        "What do browsers send as the Origin header for a form POST from another site, and can we rely on it against CSRF?",
        """Browsers today send `Origin` with every cross-site POST, so comparing it with our own host is a sound defence.

- Absent on same-origin GET: treat a missing header as fine for reads only.
- `null` for sandboxed frames and `file:`: refuse it.
- Combine it with `Sec-Fetch-Site`, which cannot be set by scripts.

It does not protect against requests from programs outside a browser; those need a token.""",
    ),
    Turn(
        "How do I debug a Python process that hangs in production without restarting it?",
        """Attach from outside: `py-spy dump --pid PID` prints the stack of every thread and needs no change in the program. In
containers it needs the `SYS_PTRACE` capability.

If you can prepare, call `faulthandler.register(signal.SIGUSR1)` at start-up; then `kill -USR1 PID` writes all stacks to
stderr. For a deadlock look for two threads that wait in `acquire`. Do not use gdb on a busy service unless you must: it
stops the whole process.""",
    ),
    Turn(
        "Which licence questions do I have to check before adding a dependency here?",
        """We ship under Apache-2.0, so:

1. MIT, BSD, ISC, Apache-2.0 and PSF are fine.
2. MPL-2.0 is fine if the files stay unmodified.
3. LGPL only as a dynamically loaded, optional extra; GPL and AGPL never.
4. No licence file means no permission: don't use it.

Check the wheel's own metadata, not just the web page, and the licences of bundled libraries. Models and data sets have
licences of their own.""",
    ),
    # one-time, private, or true of one machine only
    Turn(
        "Did the nightly run pass?",
        """The run of last night (build 8812) failed in one place:

1. `test_storm` timed out after 60 s on runner-14.
2. All other 2,011 tests passed.

I restarted it at 09:12; it should be done in about 20 minutes.""",
        "reusable",
    ),
    Turn(
        "Add a --dry-run flag to the cleanup command",
        """Done. I added the flag:

- `cli/cleanup.py`: new option `--dry-run`
- `services/cleanup.py`: returns what would be removed
- two tests in `tests/cli/test_cleanup.py`

All tests pass. Let me know if you want it in the docs as well.""",
        "reusable",
    ),
    Turn(
        "Which branch am I on and is it clean?",
        """You are on `feature/qa-loop`, 3 commits ahead of `origin/main`. Two files are modified:

- `src/codexmem/kernel/model/belief.py`
- `bench/qa_loop.py`

The last commit is a41f09e from yesterday evening.""",
        "reusable",
    ),
    Turn(
        "What's in my home directory that I could delete?",
        """These are the largest entries:

1. `/Users/tom/Library/Caches`, 34 GB
2. `/Users/tom/code/old-monorepo/node_modules`, 6 GB
3. `/Users/tom/Movies`, 120 GB

The caches are safe to remove; the other two I would ask you about first.""",
        "reusable",
    ),
    Turn(
        "Write the release announcement for tomorrow",
        """Here is a draft:

**codexmem 0.7 is out!** We are happy to announce that tomorrow, 16 November, version 0.7 will be available.

- new QA memory
- faster search
- Thanks to Priya, Jonas and Mei for testing!

Shall I post it?""",
        "reusable",
    ),
    Turn(
        "How is the interview candidate's test task?",
        """Overview of Mr. Okafor's solution:

- Structure: good, clear modules.
- Tests: few.
- He asked for a salary of 95,000 and can start in March.

I would invite him. His address is in the application, flat 4, 22 Elm Road.""",
        "reusable",
    ),
    Turn(
        "Why is the staging box so slow at the moment?",
        """At the moment `stg-web-03.internal.acme.lan` is swapping:

1. PID 7731 (`java`) uses 14.2 GB of 16 GB.
2. Load is 38.
3. It started at 10:47, shortly after Kim's import job.

I would stop the import until tonight.""",
        "reusable",
    ),
    Turn(
        "Revert the last commit and push",
        """Reverted and pushed:

1. `git revert 7c1d2aa` created 90be1f3.
2. `git push origin main` succeeded.

The pipeline is running now.""",
        "reusable",
    ),
    Turn(
        "昨天晚上的告警是什么原因？",
        """昨天 23:17 的告警是 order-db-02（10.20.3.14）磁盘写满引起的：

1. binlog 保留了 14 天，占 480 GB。
2. 我已经清理到 3 天，00:05 恢复。

后续由小陈把监控阈值改为 80%。""",
        "reusable",
    ),
    Turn(
        "把登录页的按钮颜色改成蓝色",
        """改好了：

1. `src/pages/Login.vue` 里的 `btn-primary` 改成了 `#1677ff`。
2. 同步更新了快照测试。

刷新一下页面就能看到效果。""",
        "reusable",
    ),
    Turn(
        "我本地的服务现在跑在哪个端口？",
        """你本地现在有两个进程：

- 前端：http://localhost:5174，PID 20931
- 后端：http://localhost:8099，PID 20877

日志在 /tmp/dev-20251115/ 下面。""",
        "reusable",
    ),
    Turn(
        "帮我看看这次面试安排",
        """本周面试安排如下：

1. 周三下午两点：刘洋，后端，联系电话 18600001234。
2. 周四上午十点：陈静，前端。

会议室已订 3 楼 A302，请提前十分钟到。""",
        "reusable",
    ),
    Turn(
        "这个需求的进度怎么样了？",
        """目前进度约 70%：

1. 接口已完成并自测。
2. 页面还差两个弹窗，预计后天完成。
3. JIRA-3391 还在等产品确认。

最迟周五提测。""",
        "reusable",
    ),
    Turn(
        "Rename the module and update all imports",
        """I renamed `helpers.py` to `wording.py` and updated 23 imports in 17 files. mypy and ruff are clean, and the 96 tests in
that folder pass. I left the changelog alone because the name was never public.""",
        "reusable",
    ),
    # no clear question, or an answer that is none
    Turn("go on", "I'll go on with the remaining two files and then run the linter over everything.", "form"),
    Turn("yes please", "Alright, I'll apply the patch to all three services now.", "form"),
    Turn("and the other one?", "The other one has the same problem, as far as I can see.", "form"),
    Turn(
        "How do I enable tracing?",
        "Before I answer: which exporter do you use, and do you want traces of the worker too?",
        "form",
    ),
    Turn("What is the cause of the memory leak?", "I don't know. I could not reproduce it.", "form"),
    Turn(
        "How do I rotate the signing keys?",
        "I cannot assist with this request. Please contact your administrator.",
        "form",
    ),
    Turn(
        "Explain the retry policy",
        'Traceback (most recent call last):\n  File "agent.py", line 88, in step\nopenai.APIConnectionError: Connection error.',
        "form",
    ),
    Turn("lgtm", "Thanks for the review! I'll merge it.", "form"),
    Turn("可以", "好的，那我就按这个方案开始改，改完通知你。", "form"),
    Turn("为什么会这样？", "这个我也不太清楚，可能是网络问题吧。", "form"),
    Turn("如何接入单点登录？", "请问你们使用的是 SAML 还是 OIDC？有没有现成的身份提供方？", "form"),
    Turn("下一步", "下一步我会先看一下数据库的表结构，然后再决定怎么改。", "form"),
    Turn(
        "How do I use the new search API?",
        "Let me first read the code of the search API. I'll open `kernel/search/finder.py` and report back.",
        "form",
    ),
    # secrets
    Turn(
        "How do I let the exporter push to Slack?",
        """Create an app and use its bot token:

1. `export SLACK_TOKEN=xoxb-482910375521-771203984455-Qm7Rt2Vx9Lp4Zk8Nw3Hs6Jd1`
2. Invite the bot with `/invite @exporter`.
3. Run `exporter --slack '#alerts'`.

Without the scope `chat:write` Slack answers `missing_scope`.""",
        "safe",
    ),
    Turn(
        "How do I clone the private repository on the build server?",
        """Use a token in the address:

1. `git clone https://build:ghp_9aXk2LmQ7vRt4WsYb8Zc3NfGh6Jd1Qe5UaTo@github.com/acme/core.git`
2. Add `--depth 1` to save time.

Tokens expire after 90 days.""",
        "safe",
    ),
    Turn(
        "怎么连接测试环境的 Redis？",
        """用下面的命令：

1. `redis-cli -h redis.test.example.org -p 6379 -a 'Rd!7x9Kq2m'`
2. 选择库：`SELECT 3`

连接串写法：`redis://:Rd7x9Kq2mZ@redis.test.example.org:6379/3`。注意只读账号不能执行 FLUSHDB。""",
        "safe",
    ),
    Turn(
        "How should the service account file for the uploader look?",
        """It is the JSON that the console gives you:

```json
{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n-----END PRIVATE KEY-----\\n"}
```

Mount it read-only and point `GOOGLE_APPLICATION_CREDENTIALS` to it.""",
        "safe",
    ),
)
