// The names of the pages lie in one row on a phone: the one that is looked at must be among those that are seen.

export function showPage() {
  const here = document.querySelector(".side nav [aria-current]");
  const row = here?.closest("nav");
  if (row) row.scrollLeft = here.offsetLeft - row.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
}
