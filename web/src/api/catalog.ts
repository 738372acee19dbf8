// What the pages of the catalog ask the server, and the types of its answers.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { api, ask, paged, type Answer } from '@/api/client';
import type { PageOf } from '@/api/queries';

export type Product = Answer<'/api/v1/products'>['items'][number];
export type Preset = Answer<'/api/v1/product_presets'>['items'][number];
export type Shelf = Product['status'];

export const SHELVES = ['active', 'archived', 'all'] as const;
export type ShelfWish = (typeof SHELVES)[number];
export const LIMITS = { name: 200, products: 200 } as const;
const PAGE = 100;
const LARGEST = 200; // what the server gives at most
const OFFERED = 2_000; // products that a chooser offers

export function useCatalogChanged() {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries({ queryKey: ['catalog'] }), [client]);
}

function statuses(shelf: ShelfWish): Shelf[] {
  return shelf === 'all' ? [] : [shelf];
}

export async function productPage(shelf: ShelfWish, cursor: string | null, limit = PAGE): Promise<PageOf<Product>> {
  const query = { limit, cursor: cursor ?? '', status: statuses(shelf) };
  return paged(await ask(api.GET('/api/v1/products', { params: { query } })));
}

export async function presetPage(shelf: ShelfWish, cursor: string | null, limit = PAGE): Promise<PageOf<Preset>> {
  const query = { limit, cursor: cursor ?? '', status: statuses(shelf) };
  return paged(await ask(api.GET('/api/v1/product_presets', { params: { query } })));
}

async function upTo<T>(most: number, page: (cursor: string | null) => Promise<PageOf<T>>) {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const { rows, next }: PageOf<T> = await page(cursor);
    found.push(...rows);
    cursor = next;
  } while (cursor !== null && found.length < most);
  return { found, cut: cursor !== null };
}

/** The newest products, archived ones too, for choosers and for names; `cut` where there are more. */
export function useProducts() {
  return useQuery({
    queryKey: ['catalog', 'products', 'offered'],
    queryFn: () => upTo(OFFERED, (cursor) => productPage('all', cursor, LARGEST)),
  });
}

/** The newest presets that are offered. */
export function usePresets() {
  return useQuery({
    queryKey: ['catalog', 'presets', 'offered'],
    queryFn: () => upTo(LARGEST, (cursor) => presetPage('active', cursor, LARGEST)),
  });
}

export function usePreset(id: string) {
  return useQuery({
    queryKey: ['catalog', 'preset', id],
    queryFn: ({ signal }) =>
      ask(api.GET('/api/v1/product_presets/{preset_id}', { params: { path: { preset_id: id } }, signal })).then(
        (told) => told.preset,
      ),
    enabled: id !== '',
  });
}

export function addProduct(name: string) {
  const body = { name, status: 'active' as const, schema_version: 1, extra: {} };
  return ask(api.POST('/api/v1/products', { body })).then((told) => told.product);
}

export function editProduct(id: string, body: { name?: string; status?: Shelf }) {
  return ask(api.PUT('/api/v1/products/{product_id}', { params: { path: { product_id: id } }, body }));
}

export function addPreset(name: string, productIds: string[]) {
  const body = { name, product_ids: productIds, status: 'active' as const, schema_version: 1, extra: {} };
  return ask(api.POST('/api/v1/product_presets', { body })).then((told) => told.preset);
}

export function editPreset(id: string, body: { name?: string; status?: Shelf; product_ids?: string[] }) {
  const params = { path: { preset_id: id } };
  return ask(api.PUT('/api/v1/product_presets/{preset_id}', { params, body })).then((told) => told.preset);
}
