import Activity from "@lucide/svelte/icons/activity";
import BookOpen from "@lucide/svelte/icons/book-open";
import Boxes from "@lucide/svelte/icons/boxes";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import Gauge from "@lucide/svelte/icons/gauge";
import List from "@lucide/svelte/icons/list";
import KeyRound from "@lucide/svelte/icons/key-round";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import Plug from "@lucide/svelte/icons/plug";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import UsersRound from "@lucide/svelte/icons/users-round";
import Users from "@lucide/svelte/icons/users";
import { type Action, session } from "#lib/session/session.svelte.ts";

type Place = {
  href: string;
  label: string;
  icon: typeof Activity;
  needs?: Action;
  /** Whether the page is listed only if there are teams. */ isOfTeams?: true;
};

const pages: Place[] = [
  { href: "/", label: "Overview", icon: Activity },
  { href: "/keys", label: "API keys", icon: KeyRound },
  { href: "/usage", label: "Usage", icon: ChartColumn },
  { href: "/requests", label: "Requests", icon: List },
  { href: "/playground", label: "Playground", icon: MessagesSquare },
  { href: "/models", label: "Models", icon: Boxes },
  { href: "/providers", label: "Providers", icon: Plug, needs: "providers.list" },
  { href: "/teams", label: "Teams", icon: UsersRound, isOfTeams: true },
  { href: "/people", label: "People", icon: Users, needs: "users.list" },
  { href: "/limits", label: "Limits", icon: Gauge, needs: "limits.set" },
  { href: "/audit-log", label: "Audit log", icon: ScrollText, needs: "audit.list" },
  { href: "/docs", label: "API reference", icon: BookOpen },
];

/** The pages that the user may open. */
export function openPlaces(hasTeams: boolean): Place[] {
  return pages.filter(
    ({ needs, isOfTeams }) => (needs === undefined || session.can(needs)) && (hasTeams || !isOfTeams),
  );
}

export function isClosed(pathname: string): boolean {
  return pages.some(({ href, needs }) => needs !== undefined && !session.can(needs) && isAt(href, pathname));
}

export function isAt(href: string, pathname: string): boolean {
  return href === "/" ? pathname === "/" : pathname === href || pathname.startsWith(`${href}/`);
}
