// SPDX-License-Identifier: GPL-2.0-or-later
// Sorts a table's rows by the column whose heading is clicked: numbers by value, cells without one last.
for (const table of document.querySelectorAll("table[data-sorts]")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const valueOf = (row, at) => {
    const cell = row.cells[at], value = cell.dataset.v ?? cell.textContent.trim();
    return value !== "" && !Number.isNaN(Number(value)) ? Number(value) : value;
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? -1 : 1;
  };
  heads.forEach((head, at) => {
    const sort = () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [valueOf(row, at), row]);
      rows.sort(([a], [b]) => (typeof a === typeof b ? sign : 1) * compare(a, b));
      body.append(...rows.map(([, row]) => row));
    };
    head.tabIndex = 0;
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
}
