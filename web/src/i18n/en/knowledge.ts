// The knowledge base: entries, documents, workspaces.
export default {
  title: 'Knowledge base',
  description: 'Knowledge that agents filed, documents that runs read, and folders of current tasks.',
  search: 'Search',
  nothing: 'No matches for “{{q}}”.',
  nav: { label: 'Knowledge base', entries: 'Entries', documents: 'Documents', workspaces: 'Workspaces' },
  entries: {
    title: 'Entries, newest first',
    found: 'Matching entries, best first',
    one: 'Entry',
    empty: 'No entries yet',
    emptyWhy:
      'Agents file lasting facts here with the tool memory_add, separately from the memories they are told automatically. You can add one by hand:',
  },
  documents: {
    library: 'Library',
    holds: '{{name}} · {{documents}}, {{pieces}}',
    documents_one: '{{n}} document',
    documents_other: '{{n}} documents',
    passages: 'Matching passages, best first',
    passage: 'Passage',
    pieces_one: '{{n}} passage',
    pieces_other: '{{n}} passages',
    from: '{{source}}, passage {{place}}, library {{library}}',
    empty: 'No documents yet',
    emptyWhy: 'Papers and texts that runs of the lab search and cite. This command reads them in:',
  },
  workspaces: {
    found: 'Files with these words',
    empty: 'No workspaces',
    emptyWhy:
      'An agent makes a folder for a task with the tool memory_init_workspace and removes it when the task is done. By hand:',
    noFiles: 'no files',
    bytes: '{{n}} bytes',
    notText: 'Not a text file, or too long to show.',
    path: 'path',
  },
};
