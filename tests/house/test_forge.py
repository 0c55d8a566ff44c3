"""A forge is one file, found by how its repositories are written; nothing else knows it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
EAGER = ROOT / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
NODE = ROOT / "traces/gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz"

FOLDER_FORGE = '''
"""Changes reviewed in a folder: ``folder:PATH`` holds a file for each comment."""

from pathlib import Path

from launchlens.forge.interface import Comment


class Review:
    def __init__(self, folder):
        self.folder = folder

    def read_head(self):
        return "a" * 40

    def list_comments(self):
        return [
            Comment(int(file.stem), True, file.read_text(), str(file))
            for file in self.folder.glob("*.md")
        ]

    def create_comment(self, body):
        file = self.folder / f"{len(list(self.folder.iterdir()))}.md"
        file.write_text(body)
        return Comment(int(file.stem), True, body, str(file))

    def update_comment(self, comment, body):
        Path(comment.url).write_text(body)
        return comment

    def delete_comment(self, comment):
        Path(comment.url).unlink()


class Folder:
    name, form, change, jobs = "A folder", "folder:PATH", "note", "folder jobs"
    longest = 9000

    def has(self, repo):
        return repo.startswith("folder:")

    def job(self):
        return None

    def open(self, repo, number):
        folder = Path(repo.removeprefix("folder:"), str(number))
        folder.mkdir(exist_ok=True)
        return Review(folder)


FORGE = Folder()
'''


def test_a_forge_gets_the_comment_and_keeps_it_current(house):
    house.add("forge/forges/folder.py", FOLDER_FORGE)
    command = ("comment", "--repo", f"folder:{house.work}", "--pr", "3")
    assert house.run(*command, EAGER, NODE) == f"created {house.work}/3/0.md\n"
    written = (house.work / "3/0.md").read_text()
    assert "| launches per step | 3828 | 1 |" in written
    assert "Left out to stay below A folder's limit" in written
    assert len(written.encode()) <= 9000
    assert house.run(*command, NODE, EAGER).startswith("updated ")
    assert [file.name for file in (house.work / "3").iterdir()] == ["0.md"]
    assert house.touched == ["forge/forges/folder.py"]


def test_what_no_forge_knows_names_them_all(house):
    house.add("forge/forges/folder.py", FOLDER_FORGE)
    said = house.fails("comment", "--repo", "nowhere", "--pr", "3", EAGER, NODE, code=2)
    assert "Write folder:PATH or owner/name." in said
