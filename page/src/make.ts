// Creation of elements of the page.

export function make<K extends keyof HTMLElementTagNameMap>(
  kind: K, properties: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(kind), properties);
  element.append(...children);
  return element;
}

export const byId = (id: string) => document.getElementById(id)!;
