// One value of an answer, whatever its shape: objects in a list become cards, short texts stand side by side, long ones
// take the width, and deeper things are shown inside.
import { Title, type TitleOrder } from '@mantine/core';
import type { TFunction, i18n as I18n } from 'i18next';
import { useTranslation } from 'react-i18next';
import { localeTag } from '@/i18n';
import type lab from '@/i18n/en/lab';
import { JsonView } from '@/parts/JsonView';
import { Cited } from './Cited';
import classes from './Output.module.css';

type Props = {
  name: string;
  value: unknown;
  known: ReadonlySet<string>;
  onOpen: (name: string) => void;
  level: TitleOrder;
};

const SHORT = 40; // characters
const SENTENCE = /[[【。\n]/; // a citation, the end of a sentence or a line
const DEEPEST: TitleOrder = 6;

/** A field's name for people: known ones translated, others as they are, without underscores. */
export function fieldName(name: string, t: TFunction<'lab'>, i18n: I18n): string {
  return i18n.exists(`lab:fields.${name}`) ? t(`fields.${name as keyof typeof lab.fields}`) : name.replaceAll('_', ' ');
}

export function OutputValue({ name, value, known, onOpen, level }: Props) {
  const { t } = useTranslation('lab');
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord)) {
    return (
      <section className={classes['part']}>
        <Title order={level}>{name}</Title>
        <ol className={`${classes['cards']} plain`}>
          {value.map((each, index) => (
            <li key={index} className={classes['card']} aria-label={t('output.item', { name, n: index + 1 })}>
              <span className={classes['number']} aria-hidden>
                {index + 1}
              </span>
              <Fields of={each} known={known} onOpen={onOpen} level={deeper(level)} />
            </li>
          ))}
        </ol>
      </section>
    );
  }
  return (
    <section className={classes['part']}>
      <Title order={level}>{name}</Title>
      <Inner value={value} known={known} onOpen={onOpen} level={deeper(level)} />
    </section>
  );
}

type InnerProps = Omit<Props, 'name'>;

function Inner({ value, known, onOpen, level }: InnerProps) {
  const { t, i18n } = useTranslation('lab');
  if (typeof value === 'string') return <Cited text={value} known={known} onOpen={onOpen} />;
  if (typeof value === 'number') return <span>{value.toLocaleString(localeTag(i18n.language))}</span>;
  if (typeof value === 'boolean') return <span>{t(value ? 'event.yes' : 'event.no')}</span>;
  if (value === null || value === undefined) return <span>{t('event.nothing')}</span>;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string' || typeof each === 'number')) {
    return (
      <ul className={classes['list']}>
        {value.map((each, index) => (
          <li key={index}>
            <Cited text={String(each)} known={known} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    );
  }
  if (isRecord(value)) return <Fields of={value} known={known} onOpen={onOpen} level={level} />;
  return <JsonView value={value} />;
}

function Fields({ of, known, onOpen, level }: { of: Record<string, unknown> } & Omit<InnerProps, 'value'>) {
  const { t, i18n } = useTranslation('lab');
  const entries = Object.entries(of);
  const short = entries.filter(([, value]) => isShort(value));
  const long = entries.filter(([, value]) => !isShort(value));
  return (
    <div className={`${classes['fields']} grow`}>
      {short.length > 0 && (
        <dl className={classes['short']}>
          {short.map(([name, value]) => (
            <div key={name}>
              <dt>{fieldName(name, t, i18n)}</dt>
              <dd>
                <Inner value={value} known={known} onOpen={onOpen} level={level} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {long.map(([name, value]) => (
        <OutputValue
          key={name}
          name={fieldName(name, t, i18n)}
          value={value}
          known={known}
          onOpen={onOpen}
          level={level}
        />
      ))}
    </div>
  );
}

function deeper(level: TitleOrder): TitleOrder {
  return Math.min(level + 1, DEEPEST) as TitleOrder;
}

function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= SHORT && !SENTENCE.test(value);
  return typeof value !== 'object' || value === null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
