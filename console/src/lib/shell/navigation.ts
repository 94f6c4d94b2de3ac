import Activity from "@lucide/svelte/icons/activity";
import BookOpen from "@lucide/svelte/icons/book-open";
import Boxes from "@lucide/svelte/icons/boxes";
import ChartColumn from "@lucide/svelte/icons/chart-column";
import List from "@lucide/svelte/icons/list";
import KeyRound from "@lucide/svelte/icons/key-round";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import Plug from "@lucide/svelte/icons/plug";
import ScrollText from "@lucide/svelte/icons/scroll-text";
import Users from "@lucide/svelte/icons/users";
import type { SignedInUser } from "#lib/session/session.svelte.ts";

const pages = [
  { href: "/", label: "Overview", icon: Activity, adminOnly: false },
  { href: "/keys", label: "API keys", icon: KeyRound, adminOnly: false },
  { href: "/usage", label: "Usage", icon: ChartColumn, adminOnly: false },
  { href: "/requests", label: "Requests", icon: List, adminOnly: false },
  { href: "/playground", label: "Playground", icon: MessagesSquare, adminOnly: false },
  { href: "/models", label: "Models", icon: Boxes, adminOnly: false },
  { href: "/providers", label: "Providers", icon: Plug, adminOnly: true },
  { href: "/people", label: "People", icon: Users, adminOnly: true },
  { href: "/audit-log", label: "Audit log", icon: ScrollText, adminOnly: true },
  { href: "/docs", label: "API reference", icon: BookOpen, adminOnly: false },
];

export function placesFor(user: SignedInUser) {
  return pages.filter(({ adminOnly }) => !adminOnly || user.role === "admin");
}

export function isAt(href: string, pathname: string): boolean {
  return href === "/" ? pathname === "/" : pathname === href || pathname.startsWith(`${href}/`);
}
