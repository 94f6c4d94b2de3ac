import {
  createQuery,
  type CreateQueryOptions,
  type CreateQueryResult,
  keepPreviousData,
} from "@tanstack/svelte-query";
import { urlState } from "#lib/url-state.ts";

/** What `ListPage` shows. */
export type List<Row> = {
  query: CreateQueryResult<unknown>;
  /** Undefined until the first response. */ rows: Row[] | undefined;
  nextCursor: string | null;
  /** Whether the URL selects a part of the list. */ isFiltered: boolean;
};

type Place = { search: string | undefined; cursor: string | undefined };

type Page<Row> = { items: Row[]; nextCursor: string | null };

type ListOptions<Row, More, Filter> = {
  queryKey: string[];
  /** The page's own filters in the URL. */ filter?: Filter;
  load: (input: Filter & Place) => Promise<Page<Row> & More>;
} & Pick<
  CreateQueryOptions<Page<Row> & More>,
  "enabled" | "gcTime" | "refetchInterval" | "refetchOnWindowFocus"
>;

/**
 * A list that the gateway searches, filters and divides into pages. The previous page stays until the next one arrives.
 * `page` is the latest response.
 */
export function createList<Row, More, Filter extends object = object>(
  options: () => ListOptions<Row, More, Filter>,
): List<Row> & { page: (Page<Row> & More) | undefined } {
  const place = () => ({ search: urlState("search") || undefined, cursor: urlState("after") || undefined });
  const query = createQuery<Page<Row> & More>(() => {
    const { queryKey, filter, load, ...others } = options();
    const input = { ...filter, ...place() } as Filter & Place;
    const queryFn = () => load(input);
    return { queryKey: [...queryKey, input], queryFn, placeholderData: keepPreviousData, ...others };
  });
  return {
    query,
    get page() {
      return query.data;
    },
    get rows() {
      return query.data?.items;
    },
    get nextCursor() {
      return query.data?.nextCursor ?? null;
    },
    get isFiltered() {
      return Object.values({ ...options().filter, ...place() }).some(Boolean);
    },
  };
}

/** A list that the browser has in full, and therefore searches and sorts. */
export function createWholeList<Row>(
  query: CreateQueryResult<Row[]>,
  textOf: (row: Row) => string,
): List<Row> {
  const search = () => urlState("search").toLowerCase();
  return {
    query,
    get rows() {
      return query.data?.filter((row) => textOf(row).toLowerCase().includes(search()));
    },
    nextCursor: null,
    get isFiltered() {
      return search() !== "";
    },
  };
}
