// What the agent was handed at one time, as far as it is still there.
import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/parts/Panel';
import { TimeText } from '@/parts/TimeText';
import { KindMark } from './KindMark';
import type { Injection } from './queries';
import { TextLink } from '@/parts/TextLink';
import classes from './Session.module.css';

export function InjectedDetail({ injection }: { injection: Injection }) {
  const { t } = useTranslation('timeline');
  const { start, count, memories, tokens, at_ms: at } = injection;
  return (
    <Panel title={start ? t('sessionPage.injectedStart', { count }) : t('sessionPage.injectedPrompt', { count })}>
      <Stack gap="md">
        <Group gap="sm" className={classes['facets']}>
          <TimeText at={at} />
          <span>{t('sessionPage.tokens', { count: tokens })}</span>
        </Group>
        <ul className={classes['memories']}>
          {memories.map((memory) => (
            <li key={memory.seq}>
              <KindMark kind={memory.kind} bare />
              <TextLink to={`/ui/observations/${memory.seq}`}>{memory.title || memory.ref}</TextLink>
              <Text span size="xs" c="dimmed">
                {memory.whole ? t('sessionPage.whole') : t('sessionPage.line')}
              </Text>
            </li>
          ))}
        </ul>
        {memories.length < count && (
          <Text size="xs" c="dimmed">
            {t('sessionPage.shownOf', { shown: memories.length, count })}
          </Text>
        )}
      </Stack>
    </Panel>
  );
}
