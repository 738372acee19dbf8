"""What the people and agents of the demonstration say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One turn of a session."""

    session: str
    project: str
    platform: str
    prompt: str
    tools: tuple[tuple[str, dict[str, Any], str], ...]
    words: str  # the agent's last
    ends: bool = False
    shown: bool = False  # its session has a picture


# A mark in what a tool answered says which finding the model distils from it.
FINDINGS: dict[str, dict[str, str]] = {
    "pool_size=5": {
        "kind": "cause-and-fix",
        "title": "Checkout timed out because the connection pool was exhausted",
        "text": (
            "Under load every checkout waited for one of five connections and gave up after 30 s. The "
            "pool now holds 20, and the worker count is read from the same setting so that they cannot "
            "drift apart."
        ),
    },
    "PORT=37877": {
        "kind": "decision",
        "title": "The deployment listens on port 37877",
        "text": (
            "Operations closed 8080 for everything but the old proxy. Staging and production both listen "
            "on 37877; the note project://deploy/port says so for the next agent."
        ),
    },
    "412 passed": {
        "kind": "how-to",
        "title": "Slow tests are marked and left out by default",
        "text": (
            "The 31 tests that talk to the payment sandbox carry the mark slow; `just test` leaves them "
            "out, `just test-all` and the nightly build run them."
        ),
    },
    "退款重复": {
        "kind": "cause-and-fix",
        "title": "退款回调重复到达时会退两次款",
        "text": (
            "支付渠道在超时后会重发回调。"
            "处理函数没有按回调编号去重，因此同一笔退款执行了两次。"
            "现在以回调编号为唯一键写入，重复的回调直接返回成功。"
        ),
    },
    "时区": {
        "kind": "discovery",
        "title": "对账文件按北京时间切分，数据库按 UTC 存储",
        "text": (
            "渠道的日对账文件以北京时间零点为界，而订单表以 UTC 存储。"
            "按 UTC 日期查询会漏掉当天最后八小时的订单。"
            "对账任务现在先换算再查询。"
        ),
    },
    "ix_orders_customer": {
        "kind": "discovery",
        "title": "Order history loads in one query with an index on customer and day",
        "text": (
            "The page asked once per order for its lines. One join with an index on (customer_id, "
            "created_at) replaces 51 queries; the page of a customer with 4,000 orders takes 38 ms."
        ),
    },
}
EVENTS = (
    Turn(
        "shop-1",
        "web-shop",
        "claude-code",
        "Checkout times out under load. Find out why and fix it.",
        (
            ("Read", {"file_path": "src/shop/db.py"}, "engine = create_engine(url, pool_size=5)"),
            ("Bash", {"command": "just load-test checkout"}, "p95 240 ms, 0 errors"),
        ),
        "The pool is larger than the number of workers now.",
    ),
    Turn(
        "pay-1",
        "支付服务",
        "codex",
        "有三位客户收到了两次退款，请查清原因",
        (
            (
                "Bash",
                {"command": "grep callback_id 日志/回调.log | sort | uniq -d"},
                "退款重复：callback_id=90317 出现 2 次",
            ),
        ),
        "加上唯一键之后不会再退两次。",
        ends=True,
    ),
    Turn(
        "shop-2",
        "web-shop",
        "cursor",
        "The order history page is slow for large customers",
        (("Bash", {"command": "psql -f migrations/0042_orders_index.sql"}, "CREATE INDEX ix_orders_customer_day"),),
        "It is one query with an index now.",
        ends=True,
    ),
    Turn(
        "pay-2",
        "支付服务",
        "qwen-code",
        "对账每天都差几笔，为什么？",
        (("Read", {"file_path": "对账/日报.py"}, "时区：文件按北京时间切分，查询按 UTC 日期"),),
        "换算之后对账已对上。",
        ends=True,
    ),
    Turn(
        "shop-3",
        "web-shop",
        "claude-code",
        "The tests take nine minutes. Make them quick again.",
        (("Bash", {"command": "just test"}, "412 passed in 40 s"),),
        "The tests are quick again.",
        ends=True,
    ),
    Turn(
        "shop-1",
        "web-shop",
        "claude-code",
        "Which port does the deployment use, and why not 8080?",
        (("Grep", {"pattern": "PORT", "path": "deploy"}, "deploy/values.yaml: PORT=37877"),),
        "It is 37877 everywhere.",
        shown=True,
    ),
)
_PORT = "# Ports\n\nThe deployment listens on **{port}**.\n\n- hosts: `web-1`, `web-2`\n- health: `/api/health`\n{more}"
NOTES: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    (
        "project://deploy/port",
        (
            _PORT.format(port=8080, more=""),
            _PORT.format(port=37877, more="- 8080 is closed by the firewall since October\n"),
            _PORT.format(
                port=37877,
                more="- 8080 is closed by the firewall since October\n- the steps are in project://deploy/steps\n",
            ),
        ),
        1,
        "when deploying, or when a port is asked for",
    ),
    (
        "project://deploy/steps",
        (
            "1. `just build`\n2. read project://deploy/port\n3. `just deploy staging`, then watch the "
            "health page\n4. `just deploy production`",
        ),
        2,
        "when deploying",
    ),
    (
        "project://testing/slow",
        ("Slow tests carry the mark `slow` and run at night: `just test-all`.",),
        4,
        "before tests",
    ),
    (
        "project://database/pool",
        ("The pool must not be smaller than the number of workers (SHOP_DB_POOL).",),
        2,
        "when touching the database",
    ),
    (
        "core://agent/manner",
        ("Ask before changing anything under `deploy/`. Answer briefly. 用提问者的语言回答。",),
        0,
        "always",
    ),
    (
        "team://支付/对账",
        (
            "对账文件按**北京时间**切分，订单按 UTC 存储。先换算，再查询。",
            "对账文件按**北京时间**切分，订单按 UTC 存储。先换算，再查询。\n\n"
            "- 文件每天 02:30 到达\n- 差异先查零点前后八小时\n",
        ),
        2,
        "处理对账时",
    ),
    ("team://支付/回调", ("渠道最多重发 5 次。以 `callback_id` 去重，见 team://支付/对账",), 3, "处理回调时"),
    ("team://people/oncall", ("Monday to Wednesday: Ada. Thursday to Sunday: 林.",), 5, "when something is on fire"),
)
QUESTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (
        "How are the slow tests run?",
        "With `just test-all`; the nightly build does it too.",
        {"tags": ["tests"], "author": "Ada", "source": "claude-code", "confidence": 0.8},
    ),
    (
        "回调为什么会重复到达？",
        "渠道在超时后最多重发 5 次，间隔 15 秒；以 `callback_id` 去重。",
        {"tags": ["支付"], "author": "林", "source": "codex", "confidence": 0.8},
    ),
    (
        "How do I rotate the signing key of a release?",
        "Ask the release team; the old key stays valid for thirty days.",
        {"tags": ["release"], "source": "codex"},
    ),
    (
        "对账差几笔时先查什么？",
        "先查零点前后八小时的订单：对账文件按北京时间切分，订单按 UTC 存储。",
        {"tags": ["支付", "对账"], "author": "林", "source": "qwen-code"},
    ),
    (
        "Which port does the deployment listen on?",
        "It listens on port **8080**.",
        {"source": "codex", "confidence": 0.3},
    ),
    (
        "Which port does the deployment listen on?",
        "It listens on port **37877**, in staging and production.\n\n- 8080 is closed by the firewall\n"
        "- the health page is `/api/health`",
        {"tags": ["deploy", "net"], "author": "Ada", "source": "claude-code", "confidence": 0.6},
    ),
)
SEARCHES = (
    ("why did checkout time out", "web-shop"),
    ("deployment port firewall", "web-shop"),
    ("退款为什么重复", "支付服务"),
    ("connection pool workers", "web-shop"),
    ("对账 时区", "支付服务"),
    ("slow tests", "web-shop"),
    ("order history index", "web-shop"),
)
DOCUMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    "kb_principles": (
        (
            "CO–CO coupling on copper",
            "Copper holds CO long enough for two of them to couple; this step decides whether "
            "C2H4 forms in the photocatalytic reduction of CO2. 铜位点使两个 CO 偶联，这是生成 C2H4 的关键一步。",
        ),
        (
            "The competing reaction",
            "Hydrogen evolution needs only two electrons and is often faster than CO2 reduction. "
            "Keeping CO2 near the active copper site shifts the selectivity, at some cost in rate.",
        ),
        ("TiO2 as a support", "TiO2 absorbs ultraviolet light; copper on it serves CO2 reduction as an electron sink."),
    ),
    "kb_modulation": (
        (
            "Benzoic acid on oxides",
            "Benzoic acid binds to oxide surfaces through its carboxylate. 苯甲酸通过羧酸根与表面结合。",
        ),
        (
            "Amines",
            "Amines raise the local concentration of CO2 and compete with the carboxylate 苯甲酸 for the same sites.",
        ),
    ),
}
PRODUCTS = {"C2H4": 12.3, "CO": 4.5, "CH4": 2.1, "H2": 1.6, "HCOOH": 0.4}
REQUESTS = (
    ("Cu–Mo MOF photocatalyst for CO2 → C2H4, without precious metals", 2, True),
    ("为 CO2 还原提出 Cu 基光催化剂 for C2H4，不用贵金属", 2, False),
    ("问一个模型拒绝的问题：为 NH3 合成提出催化剂", 1, False),
)
JUDGED: dict[str, Any] = {
    "score": 7.5,
    "pros": "C2H4 rises to 59 % of the products; 三次循环内稳定。",
    "cons": "Activity falls after the third cycle: 第三次循环后失活。",
    "other": "Repeat with a loading below 2 %.",
}
LEARNED = (
    (
        "Loading of copper",
        "Keep the loading of copper below 2 %: more of it shades the support. 负载过高会遮光。",
        "global",
    ),
    (
        "Stability",
        "Cu–Mo 1:1 fails after the third cycle; propose a test of five cycles. 第三次循环后失活。",
        "mof_expert",
    ),
)

KNOWLEDGE = (
    ("The payment gateway accepts 20 requests in a second. 支付网关每秒接受 20 个请求。", "Limit of the gateway",
     ("payments", "limits")),
    ("Deploys happen on Tuesdays, after the backup.", "When we deploy", ("deploy",)),
)  # fmt: skip
WORKSPACE = {
    "plan.md": "# Plan\n\n1. Reproduce the login failure\n2. Look at the session cookie\n",
    "notes.txt": "The cookie lacks SameSite=None.\n",
}
