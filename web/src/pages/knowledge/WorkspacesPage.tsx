// The folders of tasks at work: which there are, which files each holds, and what they say.
import { useTranslation } from 'react-i18next';
import { text, useSearchState } from '@/app/searchState';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { SplitView } from '@/parts/SplitView';
import { TextBlock } from '@/parts/TextBlock';
import { VirtualRows } from '@/parts/VirtualRows';
import { KnowledgeFrame } from './KnowledgeFrame';
import classes from './Knowledge.module.css';
import { useMatches, useWorkspaces, type Workspace } from './queries';

const SCHEMA = { q: text(), file: text() };
const ROW = 44;
const TRY = 'codexmem workspace init fix-login';

type File = { key: string; task: string; name: string; beside: string };

export function WorkspacesPage() {
  const { t, i18n } = useTranslation('knowledge');
  const [{ q, file }, set] = useSearchState(SCHEMA);
  const all = useWorkspaces();
  const matches = useMatches(q);
  const tasks = Object.entries(all.data?.data ?? {}).sort(([a], [b]) => a.localeCompare(b));
  const size = (held: string | { bytes: number }) =>
    t('workspaces.bytes', {
      n: (typeof held === 'string' ? new Blob([held]).size : held.bytes).toLocaleString(localeTag(i18n.language)),
    });
  const rows: File[] = q
    ? (matches.data?.results ?? []).map(({ key, value }) => {
        const [task = '', ...rest] = key.split('/');
        return { key, task, name: rest.join('/'), beside: value.text };
      })
    : tasks.flatMap(([task, { files }]): File[] => {
        const names = Object.keys(files).sort();
        if (!names.length) return [{ key: task, task, name: '', beside: t('workspaces.noFiles') }];
        return names.map((name) => ({ key: `${task}/${name}`, task, name, beside: size(files[name] ?? '') }));
      });
  const state = q
    ? { ...matches, data: matches.data && all.data ? rows : undefined }
    : { ...all, data: all.data && rows };
  return (
    <KnowledgeFrame q={q} onSearch={(words) => set({ q: words, file: '' }, { replace: true })}>
      <SplitView
        chosen={file !== ''}
        onBack={() => set({ file: '' })}
        right={file && all.data ? <FileDetail name={file} workspaces={all.data.data} /> : null}
        left={
          <Panel
            title={q ? t('workspaces.found') : t('nav.workspaces')}
            state={state}
            isEmpty={(shown) => shown.length === 0}
            empty={{ title: t('workspaces.empty'), why: t('workspaces.emptyWhy'), command: TRY }}
            filtered={q ? { text: t('nothing', { q }), onClear: () => set({ q: '' }) } : undefined}
            degraded={(q ? matches.data?.note : all.data?.note) ?? null}
            flush
          >
            <VirtualRows
              label={t('nav.workspaces')}
              rows={rows}
              keyOf={(row) => row.key}
              rowHeight={ROW}
              height="70vh"
              selectedKey={file || null}
              onSelect={(row) => set({ file: row.key }, { replace: file !== '' })}
              render={({ task, name, beside }) => (
                <span className={classes['row']}>
                  <span className={classes['title']}>
                    <code>{name ? `${task}/${name}` : task}</code>
                  </span>
                  <span className={classes['snippet']}>{beside}</span>
                </span>
              )}
            />
          </Panel>
        }
      />
    </KnowledgeFrame>
  );
}

function FileDetail({ name, workspaces }: { name: string; workspaces: Record<string, Workspace> }) {
  const { t } = useTranslation(['knowledge', 'common']);
  const [task = '', ...rest] = name.split('/');
  const workspace = workspaces[task];
  const held = workspace?.files[rest.join('/')];
  return (
    <Panel
      title={name}
      actions={workspace && <CopyButton value={`${workspace.path}/${rest.join('/')}`} label={t('workspaces.path')} />}
    >
      {typeof held === 'string' ? (
        <TextBlock text={held} mono copy />
      ) : (
        <p className={classes['from']}>{held ? t('workspaces.notText') : t('workspaces.noFiles')}</p>
      )}
      {workspace && <p className={classes['from']}>{workspace.path}</p>}
    </Panel>
  );
}
