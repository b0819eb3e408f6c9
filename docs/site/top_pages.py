# SPDX-License-Identifier: BSD-3-Clause
"""Hook of MkDocs: the pages of the top folder, which lie outside of docs/, are pages of the site, too. Links between them
and docs/ are adapted."""
from pathlib import Path

from mkdocs.structure.files import File

TOP = {"README.md": "index.md", "CHANGELOG.md": "CHANGELOG.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "LICENSE": "LICENSE"}


def on_files(files, config):
    top = Path(config.config_file_path).resolve().parents[2]
    for name, page in TOP.items():
        text = (top / name).read_text().replace("](docs/packaging)", "](docs/packaging/README.md)").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    up = "../" * page.file.src_uri.count("/")
    for name, target in TOP.items():
        markdown = markdown.replace(f"]({up}../{name}", f"]({up}{target}")
    return markdown
