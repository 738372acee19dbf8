"""Turns written after the rules, to find out where they fail: near misses on both sides.

At first sight of them the rules kept 18 turns, 9 of them rightly, and refused 3 that are worth keeping (precision 0.50,
recall 0.75). What was learnt in general (guesses, places by line number, customers) went into the rules; what needs an
understanding of the conversation did not. So this is no held-out figure, but one of how hard near misses are.
"""

# ruff: noqa: E501 - turns stand as they were said
from tests.domain.turns import Turn

HARD: tuple[Turn, ...] = (
    # worth keeping, but with something in it that looks as if it were not
    Turn(
        "How do I schedule a cron job for 02:30 every Monday?",
        """Use `30 2 * * 1`:

1. `crontab -e` opens your own table.
2. The fields are minute, hour, day of month, month, day of week.
3. Redirect the output, or it is mailed.

Cron uses the system's time zone. At the change to summer time 02:30 may not exist, so pick another hour.""",
    ),
    Turn(
        "When was f-string nesting allowed in Python and what should we use for older versions?",
        """PEP 701 allowed it in Python 3.12, released on 2 October 2023. Before that the same quote could not be reused inside.

- Target 3.11: assign the inner value to a variable first.
- Or use `str.format`.

ruff's rule UP032 does not rewrite nested ones when the target version is below 3.12.""",
    ),
    Turn(
        "How do I kill whatever listens on a port?",
        """Find it, then stop it:

1. `lsof -ti :8080` prints the process id.
2. `kill $(lsof -ti :8080)` asks it to stop; use `-9` only if that does not help.

On Linux `fuser -k 8080/tcp` does both. You need root for a process of another user.""",
    ),
    Turn(
        "Why does git say 'Your branch is ahead of origin/main by 2 commits' after I pulled?",
        """Pulling merged or rebased, and your own commits are not on the server yet. `ahead` counts commits that only you have.

- `git log origin/main..` lists them.
- `git push` publishes them.
- `git fetch` first if the number looks wrong: it compares with the last known state.

It is normal and no error.""",
    ),
    Turn(
        "How should log lines look so that we can search them later?",
        """One JSON object per line:

```json
{"ts": "2025-03-04T10:15:00Z", "level": "info", "msg": "job done", "job": "J-17", "ms": 12}
```

Use UTC and ISO 8601, stable keys, and numbers as numbers. Never log request bodies; they may hold secrets.""",
    ),
    Turn(
        "What does exit code 137 mean in a container?",
        """137 is 128 + 9: the process got SIGKILL, nearly always from the kernel because the memory limit was reached.
Check `kubectl describe pod` for `OOMKilled` and raise `resources.limits.memory`, or find the leak. `docker stop` also ends
in 137 if the program ignores SIGTERM for ten seconds, so look at the reason before you buy memory.""",
    ),
    Turn(
        "How do I find the author of a line in git and contact them?",
        """`git blame -L 40,60 path/to/file` shows commit, author and date of each line.

1. `git show <commit>` gives the context.
2. `git log --format='%an <%ae>' -1 <commit>` gives name and address.
3. With `-w -C` moved and re-indented lines are attributed to their origin.

People leave; for ownership prefer CODEOWNERS over blame.""",
    ),
    Turn(
        "现在主流的前端状态管理方案有哪些，怎么选？",
        """按规模选择：

1. 组件内状态优先用框架自带的能力。
2. 跨组件共享：Vue 用 Pinia，React 用 Zustand。
3. 服务端数据用 TanStack Query，不要放进全局状态。

Redux 适合需要时间旅行调试的大型项目，否则样板代码过多。""",
    ),
    Turn(
        "如何用 crontab 设置每周一上午 9 点执行脚本？",
        """写成 `0 9 * * 1 /opt/app/bin/report.sh`：

1. `crontab -e` 编辑。
2. 脚本里使用绝对路径，cron 的 PATH 很短。
3. 输出重定向到日志文件。

注意时区：容器里默认是 UTC，需要设置 TZ。""",
    ),
    Turn(
        "已提交的大文件怎么从 git 历史里彻底删除？",
        """用 `git filter-repo`：

1. 先备份仓库。
2. `git filter-repo --path big.bin --invert-paths`。
3. 强制推送所有分支和标签，并通知同事重新克隆。

已推送的历史会被改写，所有人的本地分支都要重建；GitHub 上的缓存需要联系客服清理。""",
    ),
    Turn(
        "Set up a pre-commit hook that runs ruff",
        """Create `.pre-commit-config.yaml`:

```yaml
repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: v0.12.0
    hooks:
      - id: ruff
      - id: ruff-format
```

Then run `pre-commit install`. The hook only sees staged files; run `pre-commit run --all-files` in CI.""",
    ),
    Turn(
        "Explain our on-call rotation process for new colleagues",
        """The rotation is weekly and has two levels:

1. First level answers within 15 minutes and follows the runbook of the alert.
2. Second level is called after 30 minutes or for anything with data loss.
3. Handover happens in a short call, with the open incidents written down.

Nobody is on call twice within three weeks. Alerts without a runbook are closed as bugs.""",
    ),
    # not worth keeping, although it looks like it
    Turn(
        "How do I get the demo working?",
        """Do this on the demo box:

1. ssh to the box and restart the container.
2. Clear the browser's cache.
3. Use the second account, the first one is locked since the meeting.

It should work for the customer call then.""",
        "reusable",
    ),
    Turn(
        "Why did the import fail for the customer?",
        """Because row 48,112 of their file has a comma in the city name:

- `"Frankfurt, Oder"` was not quoted.
- The importer stops at the first bad row.

Ask them to send the file again with quotes, or delete that one row by hand.""",
        "reusable",
    ),
    Turn(
        "What is left to do before we can merge?",
        """Three items:

1. the migration needs a down step
2. two review comments are open
3. the changelog is missing

After that it can go in; the other checks are fine.""",
        "reusable",
    ),
    Turn(
        "How do I make the test pass?",
        """The expected value is wrong. Change line 88 of the test to 4 and run it again.

- The old value came from before the refactoring.
- The other assertions are right.""",
        "reusable",
    ),
    Turn(
        "Which of the two designs do you prefer?",
        """I prefer the second:

- it needs one table less
- the first one has a race in `claim`

But it is your decision, and both would work for the size we have.""",
        "reusable",
    ),
    Turn(
        "What should I tell Sarah about the delay?",
        """Something like this:

- the dependency was released late
- the team has a plan
- the new date is realistic

Keep it short and friendly, and offer a call.""",
        "reusable",
    ),
    Turn(
        "客户那边反馈的问题怎么处理？",
        """建议这样回复客户：

1. 先致歉并说明已定位。
2. 告诉他们新版本会修复。
3. 提供临时方案：改用导出功能。

语气要诚恳，不要承诺具体日期。""",
        "reusable",
    ),
    Turn(
        "这个函数有什么问题？",
        """有三个问题：

1. 第 12 行没有处理空列表。
2. 变量名 `tmp2` 含义不清。
3. 循环里重复查询数据库。

建议先修第一个，它会导致线上报错。""",
        "reusable",
    ),
    Turn(
        "How does the billing service authenticate?",
        """It probably uses mutual TLS, but I have not seen the code. It might also be a token; I'm guessing from the name of the
configuration file. You would have to check the deployment to be sure, or ask somebody who knows it better than I do.""",
        "form",
    ),
    Turn(
        "How do I use the cache decorator?",
        """```python
@cache
def f(): ...
```""",
        "form",
    ),
    Turn(
        "Why is the sky in the game black?",
        """There can be many reasons. Rendering is complicated and depends on many things, for example on the driver, on the
settings, on the engine and on the version. In general it is best to check everything step by step and then to decide what
to do. If nothing helps, look into the documentation or ask in the forum.""",
        "form",
    ),
    Turn(
        "How do I log in to the registry?",
        """Run this:

1. `docker login registry.example.org -u ci`
2. the pass is the one on the sticky note: bluewhale99

Do not put it into scripts.""",
        "safe",
    ),
)
