// Who wrote a memory, when, in which session, and what it costs to read.
import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/api/client';
import type en from '@/i18n/en/timeline';
import { localeTag } from '@/i18n';
import { CopyButton } from '@/parts/CopyButton';
import { Panel } from '@/parts/Panel';
import { StatusMark } from '@/parts/StatusMark';
import { TimeText } from '@/parts/TimeText';
import { FactList } from './FactList';
import type { MemoryText, Provenance } from './queries';
import { TextLink } from '@/parts/TextLink';

type Props = { from: Provenance; own: Schemas['TimelineRow'] | undefined; text: MemoryText | undefined };

export function MemoryAbout({ from, own, text }: Props) {
  const { t, i18n } = useTranslation(['timeline', 'common']);
  const { memory, session, events } = from;
  const actor = from.versions.at(-1)?.actor ?? '';
  const origin = t(`memory.origin.${memory.origin as keyof typeof en.memory.origin}`);
  const shown = (count: number) => count.toLocaleString(localeTag(i18n.language));
  const spent = text && text.kind !== 'prompt' ? text.of.discovery_tokens : 0;
  const turn = text?.of.prompt_number ?? events[0]?.turn ?? null;
  return (
    <Panel title={t('memory.about')}>
      <FactList
        facts={[
          [t('sessionPage.status'), <StatusMark key="status" status={memory.status} />],
          [t('memory.project'), memory.project || t('memory.noProject')],
          [
            t('memory.session'),
            session &&
              (session.id !== null ? (
                <TextLink to={`/ui/sessions/${session.id}?sel=m${memory.seq}`}>
                  {t('list.session', { number: session.id })}
                </TextLink>
              ) : (
                session.key
              )),
          ],
          [t('sessionPage.agent'), session?.platform],
          [t('memory.turn'), turn],
          [t('memory.when'), <TimeText key="when" at={memory.created_ms} />],
          [t('memory.written'), memory.updated_ms !== memory.created_ms && <TimeText at={memory.updated_ms} />],
          [t('memory.who'), t('memory.whoOrigin', { actor, origin })],
          [
            t('memory.tokens'),
            (own || spent > 0) && (
              <Stack gap={0}>
                {own && <span>{t('memory.tokensRead', { number: shown(own.tokens) })}</span>}
                {spent > 0 && <span>{t('memory.tokensFound', { number: shown(spent) })}</span>}
              </Stack>
            ),
          ],
          [t('memory.version'), memory.version],
          [t('memory.imported'), memory.imported],
          [
            t('memory.id'),
            <span key="id">
              <code>{memory.id}</code> <CopyButton value={memory.id} label={t('common:id')} />
            </span>,
          ],
        ]}
      />
    </Panel>
  );
}
