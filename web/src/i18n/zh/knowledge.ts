// 知识库：条目、文档、工作区。
import type { Same } from '../same';
import type en from '../en/knowledge';

const knowledge: Same<typeof en> = {
  title: '知识库',
  description: '智能体归档的知识、运行所查阅的文档，以及进行中任务的目录。',
  search: '搜索',
  nothing: '这里没有与“{{q}}”相符的内容。',
  nav: { label: '知识库', entries: '条目', documents: '文档', workspaces: '工作区' },
  entries: {
    title: '条目，最新在前',
    found: '相符的条目，最相关在前',
    one: '条目',
    empty: '还没有条目',
    emptyWhy: '智能体用工具 memory_add 在此归档长期有效的事实，与自动告知的内容分开。您也可以手动添加：',
  },
  documents: {
    library: '文献库',
    holds: '{{name}}（{{documents}}，{{pieces}}）',
    documents_other: '{{n}} 篇文档',
    passages: '相符的片段，最相关在前',
    passage: '片段',
    pieces_other: '{{n}} 个片段',
    from: '{{source}}，第 {{place}} 个片段，文献库 {{library}}',
    empty: '还没有文档',
    emptyWhy: '实验室运行所搜索和引用的论文与文本。此命令读入它们：',
  },
  workspaces: {
    found: '含有这些词的文件',
    empty: '没有工作区',
    emptyWhy: '智能体用工具 memory_init_workspace 为任务建立目录，任务完成后移除。手动操作：',
    noFiles: '没有文件',
    bytes: '{{n}} 字节',
    notText: '不是文本，或太长而无法显示。',
    path: '路径',
  },
};

export default knowledge;
