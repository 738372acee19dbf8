"""What a developer's memory holds, in English and Chinese, and what has nothing to do with any of it."""

from __future__ import annotations

ENGLISH = (
    "The checkout service listens on port 8443 behind nginx.",
    "PostgreSQL connections go through pgbouncer in transaction mode.",
    "Retries use exponential backoff with jitter, five attempts at most.",
    "The release was delayed because the migration locked the orders table.",
    "Use pnpm, not npm, in the web workspace.",
    "CORS errors on staging come from a missing Vary header.",
    "The nightly job rebuilds the search index at 03:00 UTC.",
    "Feature flags live in LaunchDarkly; never hard-code them.",
    "JWT tokens expire after fifteen minutes and are refreshed silently.",
    "The flaky test test_upload_resume depends on the system clock.",
    "Redis evicts keys when memory passes two gigabytes.",
    "Deploys to production need approval from two maintainers.",
)
CHINESE = (
    "支付网关在高负载下最多需要二十秒才能响应。",
    "部署前必须先运行数据库迁移脚本。",
    "登录失败五次后账号锁定三十分钟。",
    "前端使用 React 和 TypeScript，样式写在 CSS 模块里。",
    "缓存失效的原因是键名里缺少租户编号。",
    "日志保留三十天，之后归档到对象存储。",
    "接口超时时间从五秒改成了十秒。",
    "订单表的索引已经按创建时间重建。",
    "测试环境的域名证书每季度更新一次。",
    "消息队列堆积时先扩容消费者。",
    "配置文件里的密码全部换成环境变量。",
    "搜索结果按相关性排序，相同时按时间。",
)
# Asked for and known: these must be answered, or silence would prove nothing.
KNOWN = {
    "why was the release late": ENGLISH[3],
    "checkout port": ENGLISH[0],
    "backoff and jitter": ENGLISH[2],
    "支付为什么很慢": CHINESE[0],
    "登录锁定多久": CHINESE[2],
    "数据库迁移": CHINESE[1],
}
STRANGE = ("zebra quantum", "zzz qqq", "xyzzy plugh", "hunter2", "乌龟吃什么")
# Nobody looked at these while the floor was chosen.
FOREIGN = (
    "penguin huddle antarctica", "flibber gibbet wozzle", "sourdough crust hydration", "baroque harpsichord tuning",
    "qwpo zmxn tyru", "mount fuji sunrise", "giraffe neck vertebrae", "origami crane folding", "violin rosin",
    "volcano lava viscosity", "tango dancing shoes", "grandmother's apple pie", "medieval siege catapult",
    "tulip bulbs", "dinosaur extinction asteroid", "saxophone reed", "marathon training diet", "kangaroo pouch",
    "ballet pirouette", "cheese fondue recipe", "lighthouse keeper", "sumo wrestler", "haiku about cherry blossoms",
    "gondola in Venice", "snorkeling coral reef", "asdkjh qweoiu zxcmnb", "Shakespeare sonnet",
    "moon landing astronaut", "红烧排骨的做法", "大熊猫喜欢竹子吗", "李白写过哪些诗", "钢琴考级曲目", "太极拳招式",
    "长城有多长", "怎样种番茄", "月饼馅料", "京剧脸谱", "企鹅会飞吗", "恐龙灭绝", "瑜伽入门动作", "珠穆朗玛峰海拔",
    "端午节吃粽子", "猫咪掉毛怎么办", "西湖龙井茶", "篮球三分线",
)  # fmt: skip
