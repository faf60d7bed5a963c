// Opens the folded part that the place in the address is in.
const unfold = () => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = place && place.closest("details");
  if (folded && !folded.open) {
    folded.open = true;
    place.scrollIntoView();
  }
};
addEventListener("hashchange", unfold);
unfold();
