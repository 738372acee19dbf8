// Every factor of one result and its share of the sum.
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { decimal } from './figures';
import type { Ranked } from './queries';
import classes from './Factors.module.css';

type Props = { factors: Ranked['factors']; sum: number | null; language: string };

export function Factors({ factors, sum, language }: Props) {
  const { t, i18n } = useTranslation('viewer');
  const name = (factor: string) =>
    i18n.exists(`viewer:traces.factor.${factor}`) ? t(`traces.factor.${factor as 'words'}`) : factor;
  return (
    <Table className={classes['factors'] ?? ''} verticalSpacing={2}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t('traces.factorColumns.factor')}</Table.Th>
          <Table.Th scope="col">{t('traces.factorColumns.group')}</Table.Th>
          <Table.Th scope="col" ta="end">
            {t('traces.factorColumns.share')}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {factors.map((factor) => (
          <Table.Tr key={factor.name}>
            <Table.Th scope="row" fw={400}>
              {name(factor.name)} <code className={classes['code']}>{factor.name}</code>
            </Table.Th>
            <Table.Td>{t(`traces.group.${factor.group}`)}</Table.Td>
            <Table.Td ta="end">{signed(factor.share, language)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
      {sum !== null && (
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th scope="row" colSpan={2}>
              {t('traces.total')}
            </Table.Th>
            <Table.Td ta="end" fw={600}>
              {decimal(sum, language, 3)}
            </Table.Td>
          </Table.Tr>
        </Table.Tfoot>
      )}
    </Table>
  );
}

function signed(share: number, language: string): string {
  return share > 0 ? `+${decimal(share, language, 3)}` : decimal(share, language, 3);
}
