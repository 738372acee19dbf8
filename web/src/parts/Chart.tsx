// A chart with a table behind it: the same figures, for those who would rather read, copy or hear them.
import { SegmentedControl, Skeleton, Table } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { usePreferences } from '@/app/preferences';
import { localeTag } from '@/i18n';
import type { ChartProps } from './chartTypes';
import { exactTime } from './TimeText';
import classes from './Chart.module.css';

const Drawing = lazy(() => import('./ChartDrawing').then((module) => ({ default: module.ChartDrawing })));

export function Chart(props: ChartProps) {
  const { t } = useTranslation();
  const [view, setView] = useState('chart');
  const height = props.height ?? 240;
  return (
    <div className={classes['chart']}>
      <div className={classes['tools']}>
        <SegmentedControl
          value={view}
          onChange={setView}
          aria-label={props.label}
          data={[
            { value: 'chart', label: t('asChart') },
            { value: 'table', label: t('asTable') },
          ]}
        />
      </div>
      {view === 'chart' ? (
        <Suspense fallback={<Skeleton h={height} />}>
          <Drawing {...props} height={height} />
        </Suspense>
      ) : (
        <Figures {...props} height={height} />
      )}
    </div>
  );
}

function Figures({ axis, axisName, series, label, format, height }: ChartProps) {
  const { i18n } = useTranslation();
  const { clock } = usePreferences();
  const write = format ?? ((value: number) => value.toLocaleString(localeTag(i18n.language)));
  return (
    <div className={classes['figures']} style={{ maxHeight: height }} tabIndex={0} role="region" aria-label={label}>
      <Table stickyHeader>
        <Table.Caption className={classes['caption']}>{label}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{axisName}</Table.Th>
            {series.map(({ name }) => (
              <Table.Th key={name} scope="col" ta="end">
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {axis.map((place, index) => (
            <Table.Tr key={place}>
              <Table.Th scope="row" fw={400}>
                {typeof place === 'number' ? exactTime(place, i18n.language, clock) : place}
              </Table.Th>
              {series.map(({ name, values }) => {
                const value = values[index];
                return (
                  <Table.Td key={name} ta="end">
                    {value === null || value === undefined ? '–' : write(value)}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
