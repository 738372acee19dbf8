// 按地址组织的笔记：树、列表与视图。
import type { Same } from '../same';
import type en from '../en/notes';

const notes: Same<typeof en> = {
  title: '笔记',
  description: '按地址组织的笔记，保留每个版本。',
  address: '地址',
  count_other: '{{shown}} 条笔记',
  tree: {
    title: '地址',
    label: '全部笔记的地址',
    all: '全部笔记',
    more: '显示更多',
    failed: '无法读取，请重试',
    virtual: '虚拟',
    alias: '别名',
  },
  filters: {
    words: '搜索',
    wordsHint: '词语或地址',
    clearWords: '清除搜索',
    domain: '域',
    status: '状态',
    priority: '优先级',
    all: '全部',
    standing: '除已删除外的全部',
    core: 'P0–P2，核心',
    range: 'P{{from}}–P{{to}}',
  },
  list: {
    label: '笔记',
    newest: '最新在前',
    found: '最相关在前',
    empty: '还没有笔记',
    emptyWhy: '智能体通过 MCP 把笔记写在 project://config 这样的地址下。您可以在这里写第一条，或使用此命令：',
    none: '没有符合条件的笔记：{{filters}}',
    filter: { words: '词语“{{words}}”', domain: '域 {{domain}}://', status: '状态为{{status}}' },
    degraded: '搜索受限：{{why}}',
  },
  priority: {
    label: '优先级',
    hint: '0 到 10；0 到 2 为核心',
    core: '核心：每次启动都会告知智能体',
    usual: '与工作相关时告知',
  },
  disclosure: {
    label: '何时展示',
    hint: '在何种情形下应告知智能体',
  },
  new: {
    open: '新建笔记',
    title: '新建笔记',
    address: '地址',
    addressHint: '域://路径：智能体和人都能记住的名字',
    content: '内容',
    contentHint: 'Markdown。写出另一条笔记的地址，两者就会关联。',
    oddAddress: '请写成 域://路径，例如 project://config',
    noContent: '请写些内容。',
    taken: '此地址已有内容：',
    create: '创建笔记',
    done: '已创建 {{uri}}。',
  },
  nothing: {
    title: '此地址没有内容',
    why: '它从未写过，或已被永久遗忘。您现在就可以写。',
    write: '现在写',
  },
  views: {
    choose: '视图',
    content: '智能体得知的内容',
    boot: '每次启动都会告知智能体的核心笔记',
    index: '全部笔记，每条一行，按地址排列',
    recent: '最近修改的笔记，最新在前',
    short: { boot: '启动', index: '索引', recent: '最近' },
    empty: '此视图为空',
    emptyWhy: '优先级为 0 到 2 的笔记是核心，会出现在这里。用此命令写一条：',
    more: '与智能体所见一致，只显示前 {{count}} 条。',
  },
};

export default notes;
